"""The vendor's Python clients against a server: python suite.py CONNECTION_STRING ACCOUNT KEY."""

import datetime
import math
import sys
import unittest
import uuid

from azure.core import MatchConditions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.data.tables import (
    AccountSasPermissions, EdmType, EntityProperty, ResourceTypes, TableAccessPolicy, TableClient, TableSasPermissions,
    TableServiceClient, TableTransactionError, UpdateMode, generate_account_sas, generate_table_sas,
)
from azure.storage.queue import (
    AccessPolicy, CorsRule, AccountSasPermissions as QueueAccountSasPermissions, QueueClient, QueueSasPermissions, QueueServiceClient,
    ResourceTypes as QueueResourceTypes, generate_account_sas as generate_queue_account_sas, generate_queue_sas,
)

CONNECTION, ACCOUNT, KEY = sys.argv[1:4]
NOW = datetime.datetime.now(datetime.timezone.utc)
HOUR = datetime.timedelta(hours=1)


def fresh(stem):
    return stem + uuid.uuid4().hex[:12]


class Tables(unittest.TestCase):
    def setUp(self):
        self.service = TableServiceClient.from_connection_string(CONNECTION)
        self.table = self.service.create_table(fresh("Py"))
        self.addCleanup(self.table.delete_table)

    def code(self, kind, call):
        with self.assertRaises(kind) as raised:
            call()
        # The error of `create_entity` has no code.
        return getattr(raised.exception, "error_code", None) or raised.exception.response.headers["x-ms-error-code"]

    def insert(self, row, **properties):
        self.table.create_entity({"PartitionKey": "p", "RowKey": row, **properties})

    def rows(self, *arguments, **options):
        return [entity["RowKey"] for entity in self.table.query_entities(*arguments, **options)]

    def test_every_type_comes_back(self):
        values = {
            "text": "it's 東京 🚀", "empty": "", "number": 5, "large": EntityProperty(2**40, EdmType.INT64), "real": 1.5, "yes": True,
            "bytes": b"\x00\xff", "guid": uuid.UUID(int=5), "infinite": math.inf,
            "instant": datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc),
        }
        self.insert("r", nan=math.nan, **values)
        found = self.table.get_entity("p", "r")
        self.assertTrue(math.isnan(found.pop("nan")))
        self.assertEqual({name: found[name] for name in values}, values)

    def test_ticks_come_back_to_the_last_digit(self):
        self.insert("r", at=EntityProperty("2020-01-02T03:04:05.1234567Z", EdmType.DATETIME))
        found = self.table.get_entity("p", "r")["at"]
        self.assertEqual(getattr(found, "tables_service_value", None) or str(found), "2020-01-02T03:04:05.1234567Z")

    def test_inserts_are_refused_for_a_key_that_exists(self):
        self.insert("r")
        self.assertEqual(self.code(ResourceExistsError, lambda: self.insert("r")), "EntityAlreadyExists")
        self.assertEqual(self.code(ResourceNotFoundError, lambda: self.table.get_entity("p", "x")), "ResourceNotFound")

    def test_versions_are_conditions(self):
        self.insert("r", n=1)
        first = self.table.get_entity("p", "r")
        options = {"etag": first.metadata["etag"], "match_condition": MatchConditions.IfNotModified}
        self.table.update_entity({**first, "n": 2}, mode=UpdateMode.REPLACE, **options)
        stale = lambda: self.table.update_entity({**first, "n": 3}, mode=UpdateMode.REPLACE, **options)
        self.assertEqual(self.code(HttpResponseError, stale), "UpdateConditionNotSatisfied")
        stale = lambda: self.table.delete_entity("p", "r", **options)
        self.assertEqual(self.code(HttpResponseError, stale), "UpdateConditionNotSatisfied")
        self.assertEqual(self.table.get_entity("p", "r")["n"], 2)

    def test_merges_keep_and_replaces_remove(self):
        self.insert("r", a=1, b=2)
        self.table.update_entity({"PartitionKey": "p", "RowKey": "r", "b": 3}, mode=UpdateMode.MERGE)
        self.assertEqual(self.table.get_entity("p", "r")["a"], 1)
        self.table.upsert_entity({"PartitionKey": "p", "RowKey": "r", "b": 4}, mode=UpdateMode.REPLACE)
        self.assertNotIn("a", self.table.get_entity("p", "r"))
        self.table.upsert_entity({"PartitionKey": "p", "RowKey": "new", "b": 4}, mode=UpdateMode.MERGE)
        self.table.delete_entity("p", "new")
        self.table.delete_entity("p", "new")  # the client takes 404 for done

    def test_keys_of_any_characters(self):
        for key in ["it's", "a b", "100%", "ä+ö&=", "東京"]:
            self.insert(key, n=1)
            self.assertEqual(self.table.get_entity("p", key)["RowKey"], key)
            self.assertEqual(self.rows("RowKey eq @key", parameters={"key": key}), [key])

    def test_transactions_are_all_or_none(self):
        entity = lambda number: {"PartitionKey": "p", "RowKey": f"{number:03}", "n": number}
        answers = self.table.submit_transaction([("create", entity(number)) for number in range(100)])
        self.assertEqual(len(answers), 100)
        with self.assertRaises(TableTransactionError) as raised:
            self.table.submit_transaction([("create", entity(100)), ("delete", entity(0)), ("create", entity(1))])
        self.assertEqual((raised.exception.index, raised.exception.error_code), (2, "EntityAlreadyExists"))
        self.assertEqual(len(self.rows("n ge 0")), 100)
        self.table.submit_transaction([("upsert", {**entity(0), "m": 1}, {"mode": "merge"}), ("delete", entity(1))])
        self.assertEqual(self.table.get_entity("p", "000")["n"], 0)

    def test_queries_filter_select_and_page(self):
        self.table.submit_transaction([
            ("create", {"PartitionKey": "p", "RowKey": f"{number:03}", "n": number, "s": "x" * number}) for number in range(60)
        ])
        self.assertEqual(len(self.rows("n ge 10 and n lt 20 or n eq 50")), 11)
        self.assertEqual(self.rows("not (n lt 59)"), ["059"])
        self.assertEqual(set(next(self.table.query_entities("n eq 7", select=["n"]))), {"n"})
        pages = self.table.list_entities(results_per_page=25).by_page()
        self.assertEqual([len(list(page)) for page in pages], [25, 25, 10])
        first = self.table.list_entities(results_per_page=25).by_page()
        next(first)
        rest = self.table.list_entities(results_per_page=25).by_page(first.continuation_token)
        self.assertEqual(sum(len(list(page)) for page in rest), 35)

    def test_tables_are_listed_and_missing_ones_refused(self):
        name = self.table.table_name
        self.assertEqual([found.name for found in self.service.query_tables(f"TableName eq '{name}'")], [name])
        self.assertIn(name, [found.name for found in self.service.list_tables()])
        self.assertEqual(self.code(ResourceExistsError, lambda: self.service.create_table(name)), "TableAlreadyExists")
        missing = self.service.get_table_client(fresh("No"))
        self.assertEqual(self.code(HttpResponseError, lambda: list(missing.list_entities())), "TableNotFound")

    def test_signatures_bound_what_they_permit(self):
        self.insert("r", n=1)
        self.insert("z", n=1)
        name, endpoint, account = self.table.table_name, self.service.url, AzureNamedKeyCredential(ACCOUNT, KEY)
        client = lambda sas: TableClient(endpoint, name, credential=AzureSasCredential(sas))
        keys = {"start_pk": "p", "start_rk": "a", "end_pk": "p", "end_rk": "s"}
        read = client(generate_table_sas(account, name, permission=TableSasPermissions(read=True), expiry=NOW + HOUR, **keys))
        self.assertEqual(read.get_entity("p", "r")["n"], 1)
        self.assertEqual([found["RowKey"] for found in read.list_entities()], ["r"])
        write = lambda: read.create_entity({"PartitionKey": "p", "RowKey": "b"})
        self.assertEqual(self.code(HttpResponseError, write), "AuthorizationPermissionMismatch")
        self.table.set_table_access_policy({"readers": TableAccessPolicy(start=NOW - HOUR, expiry=NOW + HOUR, permission="r")})
        self.assertEqual(self.table.get_table_access_policy()["readers"].permission, "r")
        self.assertEqual(client(generate_table_sas(account, name, policy_id="readers")).get_entity("p", "r")["n"], 1)
        old = client(generate_table_sas(account, name, permission=TableSasPermissions(read=True), expiry=NOW - HOUR))
        self.assertEqual(self.code(HttpResponseError, lambda: old.get_entity("p", "r")), "AuthenticationFailed")
        everything = ResourceTypes(service=True, container=True, object=True)
        sas = generate_account_sas(account, everything, AccountSasPermissions(read=True, list=True), NOW + HOUR)
        listing = TableServiceClient(endpoint, credential=AzureSasCredential(sas))
        self.assertIn(name, [found.name for found in listing.list_tables()])

    def test_the_secondary_has_statistics(self):
        host = self.service.url.split("//")[1].split("/")[0]
        service = TableServiceClient.from_connection_string(CONNECTION, secondary_hostname=f"{host}/{ACCOUNT}-secondary")
        self.assertEqual(service.get_service_stats()["geo_replication"]["status"], "live")

    def test_a_wrong_key_is_refused(self):
        stranger = TableServiceClient(self.service.url, credential=AzureNamedKeyCredential(ACCOUNT, "d3Jvbmc="))
        self.assertEqual(self.code(HttpResponseError, lambda: list(stranger.list_tables())), "AuthenticationFailed")


class Queues(unittest.TestCase):
    def setUp(self):
        self.queue = QueueServiceClient.from_connection_string(CONNECTION).create_queue(fresh("py"))
        self.addCleanup(self.queue.delete_queue)

    def test_messages_are_leased_updated_and_deleted(self):
        self.queue.send_message("<a & b>")
        self.assertEqual([message.content for message in self.queue.peek_messages(5)], ["<a & b>"])
        message = next(iter(self.queue.receive_messages(visibility_timeout=600)))
        self.assertEqual((message.content, message.dequeue_count), ("<a & b>", 1))
        self.assertEqual(list(self.queue.receive_messages()), [])
        changed = self.queue.update_message(message, visibility_timeout=600, content="later")
        with self.assertRaises(HttpResponseError) as raised:
            self.queue.delete_message(message)
        self.assertEqual(raised.exception.error_code, "PopReceiptMismatch")
        self.queue.delete_message(changed)
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 0)

    def test_a_queue_is_cleared(self):
        for number in range(40):
            self.queue.send_message(str(number))
        self.assertEqual(self.queue.get_queue_properties().approximate_message_count, 40)
        self.queue.clear_messages()
        self.assertEqual(self.queue.peek_messages(32), [])

    def refused(self, call):
        with self.assertRaises(HttpResponseError) as raised:
            call()
        return raised.exception.error_code

    def test_metadata_are_kept_and_tell_a_conflict(self):
        service, name = QueueServiceClient.from_connection_string(CONNECTION), fresh("py")
        queue = service.create_queue(name, metadata={"owner": "ada", "stage": "<1 & 2>"})
        self.addCleanup(queue.delete_queue)
        self.assertEqual(queue.get_queue_properties().metadata, {"owner": "ada", "stage": "<1 & 2>"})
        same = service.get_queue_client(name)
        with self.assertRaises(ResourceExistsError) as raised:  # the client takes 204 for an error
            same.create_queue(metadata={"owner": "ada", "stage": "<1 & 2>"})
        self.assertEqual(raised.exception.status_code, 204)
        self.assertEqual(self.refused(lambda: same.create_queue(metadata={"owner": "bob"})), "QueueAlreadyExists")
        self.assertEqual(self.refused(same.create_queue), "QueueAlreadyExists")
        queue.set_queue_metadata({"owner": "bob"})
        self.assertEqual(queue.get_queue_properties().metadata, {"owner": "bob"})
        self.assertEqual(self.refused(lambda: queue.set_queue_metadata({"a-b": "c"})), "InvalidMetadata")
        queue.set_queue_metadata({})
        self.assertEqual(queue.get_queue_properties().metadata, {})

    def test_metadata_go_with_their_queue(self):
        service, name = QueueServiceClient.from_connection_string(CONNECTION), fresh("py")
        service.create_queue(name, metadata={"owner": "ada"}).delete_queue()
        again = service.create_queue(name)
        self.addCleanup(again.delete_queue)
        self.assertEqual(again.get_queue_properties().metadata, {})

    def test_queues_are_listed_in_pages_by_prefix_with_metadata(self):
        service, stem = QueueServiceClient.from_connection_string(CONNECTION), fresh("list")
        for number in range(5):
            queue = service.create_queue(f"{stem}-{number}", metadata={"number": str(number)})
            self.addCleanup(queue.delete_queue)
        pages = service.list_queues(name_starts_with=stem, results_per_page=2, include_metadata=True).by_page()
        pages = [[(queue.name, queue.metadata) for queue in page] for page in pages]
        self.assertEqual([len(page) for page in pages], [2, 2, 1])
        self.assertEqual(pages[2], [(f"{stem}-4", {"number": "4"})])
        self.assertIn(self.queue.queue_name, [queue.name for queue in service.list_queues()])
        self.assertEqual(list(service.list_queues(name_starts_with=stem + "-9")), [])

    def test_signatures_of_a_queue_bound_what_they_permit(self):
        name, endpoint = self.queue.queue_name, self.queue.primary_endpoint.rsplit("/", 1)[0]
        endpoint = endpoint if endpoint.endswith(ACCOUNT) else f"{endpoint}/{ACCOUNT}"
        client = lambda sas, queue=name: QueueClient(endpoint, queue, credential=sas)
        self.queue.send_message("x")
        sas = generate_queue_sas(ACCOUNT, name, KEY, QueueSasPermissions(read=True), NOW + HOUR)
        self.assertEqual([message.content for message in client(sas).peek_messages()], ["x"])
        self.assertEqual(client(sas).get_queue_properties().approximate_message_count, 1)
        self.assertEqual(self.refused(lambda: client(sas).send_message("y")), "AuthorizationPermissionMismatch")
        self.assertEqual(self.refused(client(sas).delete_queue), "AuthorizationFailure")
        self.assertEqual(self.refused(client(sas, "other").peek_messages), "AuthenticationFailed")
        self.queue.set_queue_access_policy({"workers": AccessPolicy(permission="rp", expiry=NOW + HOUR, start=NOW - HOUR)})
        self.assertEqual(self.queue.get_queue_access_policy()["workers"].permission, "rp")
        worker = client(generate_queue_sas(ACCOUNT, name, KEY, policy_id="workers"))
        message = worker.receive_message(visibility_timeout=600)
        worker.delete_message(message)
        self.queue.set_queue_access_policy({})
        self.assertEqual(self.refused(worker.peek_messages), "AuthenticationFailed")
        late = client(generate_queue_sas(ACCOUNT, name, KEY, QueueSasPermissions(read=True), NOW - HOUR))
        self.assertEqual(self.refused(late.peek_messages), "AuthenticationFailed")
        kinds = QueueResourceTypes(service=True, container=True, object=True)
        sas = generate_queue_account_sas(ACCOUNT, KEY, kinds, QueueAccountSasPermissions(list=True), NOW + HOUR)
        listing = QueueServiceClient(endpoint, credential=sas)
        self.assertIn(name, [queue.name for queue in listing.list_queues()])
        self.assertEqual(self.refused(lambda: listing.create_queue(fresh("no"))), "AuthorizationPermissionMismatch")

    def test_properties_of_the_service_are_kept(self):
        service = QueueServiceClient.from_connection_string(CONNECTION)
        rule = CorsRule(["https://contoso.com"], ["GET", "PUT"], max_age_in_seconds=60, allowed_headers=["x-ms-*"], exposed_headers=["x-ms-*"])
        service.set_service_properties(cors=[rule])
        found = service.get_service_properties()["cors"]
        self.assertEqual([(one.allowed_origins, one.max_age_in_seconds) for one in found], [("https://contoso.com", 60)])
        service.set_service_properties(cors=[])
        self.assertEqual(service.get_service_properties()["cors"], [])

    def test_a_missing_queue_is_refused(self):
        missing = QueueServiceClient.from_connection_string(CONNECTION).get_queue_client(fresh("no"))
        with self.assertRaises(ResourceNotFoundError) as raised:
            missing.send_message("x")
        self.assertEqual(raised.exception.error_code, "QueueNotFound")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
