"""The vendor's Python client against the emulator: python suite.py ENDPOINT KEY DATABASE."""

import sys
import unittest

from azure.core import MatchConditions
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosResourceExistsError, CosmosResourceNotFoundError

ENDPOINT, KEY, DATABASE = sys.argv[1:4]


class Levels(unittest.TestCase):
    """The container `Events` of three levels, which the Rust client has filled."""

    def setUp(self):
        # The account document of the emulator contains the names of other hosts.
        client = CosmosClient(ENDPOINT, KEY, enable_endpoint_discovery=False)
        self.container = client.get_database_client(DATABASE).get_container_client("Events")

    def ids(self, **options):
        return sorted(item["id"] for item in self.container.query_items("SELECT * FROM c", **options))

    def test_an_item_is_read_by_its_whole_key(self):
        item = self.container.read_item("0007", partition_key=["contoso", "ada", "s1"])
        self.assertEqual((item["l1"], item["l2"], item["l3"], item["p"]), ("contoso", "ada", "s1", {"Kind": "click"}))
        with self.assertRaises(CosmosResourceNotFoundError):
            self.container.read_item("0007", partition_key=["contoso", "ada", "s2"])

    def test_a_prefix_finds_what_the_rust_client_finds(self):
        self.assertEqual(self.ids(partition_key=["contoso", "ada", "s1"]), ["0007"])
        self.assertEqual(self.ids(partition_key=["contoso", "ada"]), ["0007", "0008"])
        self.assertEqual(self.ids(partition_key=["contoso"]), ["0007", "0008", "0009"])
        self.assertEqual(self.ids(partition_key=["con"]), ["0010"])
        self.assertEqual(self.ids(partition_key=["none"]), [])

    def test_what_is_written_is_there_for_the_rust_client(self):
        key = ["python", "é 東京 🚀", ""]
        item = {"id": "0001", "l1": key[0], "l2": key[1], "l3": key[2], "p": {"Kind": "written"}}
        stored = self.container.create_item(item)
        with self.assertRaises(CosmosResourceExistsError):
            self.container.create_item(item)
        item["p"]["Kind"] = "replaced"
        options = {"etag": stored["_etag"], "match_condition": MatchConditions.IfNotModified}
        self.container.replace_item("0001", item, **options)
        with self.assertRaises(CosmosAccessConditionFailedError):
            self.container.replace_item("0001", item, **options)

    def test_a_batch_has_one_whole_key(self):
        key = ["python", "batch", "s1"]
        item = {"l1": key[0], "l2": key[1], "l3": key[2], "p": {"Kind": "batch"}}
        operations = [("create", ({"id": number, **item},)) for number in ("0001", "0002")]
        self.container.execute_item_batch(operations, partition_key=key)
        self.assertEqual(self.ids(partition_key=["python", "batch"]), ["0001", "0002"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
