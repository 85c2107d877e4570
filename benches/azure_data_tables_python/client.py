"""The vendor's client, told its work line by line: `insert 600` asks for about 600 ms of inserts."""

import asyncio
import itertools
import sys
import time
from datetime import datetime, timezone

from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import EdmType, EntityProperty, TableServiceClient
from azure.data.tables.aio import TableServiceClient as AsyncTableServiceClient

AT_ONCE = 32
ENTITIES = 10_000
READ = "ReadingsToRead"
ADDRESS, KEY, TABLE = sys.argv[1:]
ACCOUNT = "devstoreaccount1"
ENDPOINT = f"http://{ADDRESS}/{ACCOUNT}"
CREDENTIAL = AzureNamedKeyCredential(ACCOUNT, KEY)

service = TableServiceClient(endpoint=ENDPOINT, credential=CREDENTIAL)
service.create_table_if_not_exists(TABLE)
written, read = service.get_table_client(TABLE), service.get_table_client(READ)
numbers = itertools.count()
places = itertools.count()
AT = datetime(2026, 11, 20, 8, tzinfo=timezone.utc)


def site(index):
    return f"station-{index:05}"


def entity(partition, number):
    return {
        "PartitionKey": partition,
        "RowKey": f"reading_{number:010}",
        "Device": f"dev-{number:08x}",
        "Operator": "Harbour SasVerifier",
        "Quantity": "temperature",
        "Remark": "gusts from the west, calm",
        "Level": 50,
        "Retries": 2,
        "Total": EntityProperty(number * 1_000, EdmType.INT64),
        "Value": 417.25,
        "Valid": True,
        "At": AT,
    }


def fresh():
    number = next(numbers)
    return entity(site(number // 1_000), number)


def insert():
    written.create_entity(fresh())


def batch():
    partition = f"batch-{next(numbers)}"
    written.submit_transaction([("create", entity(partition, number)) for number in range(100)])


def get():
    index = next(places) * 7 % ENTITIES
    number = index % 1_000 * 4_000_000 + index // 1_000
    read.get_entity(site(0), f"reading_{number:010}")


def page():
    pages = read.query_entities("PartitionKey eq @key", parameters={"key": site(0)}, results_per_page=1_000).by_page()
    if len(list(next(pages))) != 1_000:
        raise RuntimeError("the page is short")


def repeat(operation, end):
    operations = 0
    while True:
        operation()
        operations += 1
        if time.perf_counter() >= end:
            return operations


class Pipelined:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.table = None

    async def insert(self, end):
        if self.table is None:
            self.table = AsyncTableServiceClient(endpoint=ENDPOINT, credential=CREDENTIAL).get_table_client(TABLE)

        async def one():
            operations = 0
            while True:
                await self.table.create_entity(fresh())
                operations += 1
                if time.perf_counter() >= end:
                    return operations

        return sum(await asyncio.gather(*(one() for _ in range(AT_ONCE))))

    def __call__(self, end):
        return self.loop.run_until_complete(self.insert(end))


WORKS = {name.__name__: (lambda end, work=name: repeat(work, end)) for name in (insert, batch, get, page)}
WORKS["pipelined"] = Pipelined()

for line in sys.stdin:
    name, millis = line.split()
    try:
        busy, start = time.process_time_ns(), time.perf_counter_ns()
        operations = WORKS[name](time.perf_counter() + int(millis) / 1_000)
        print(operations, time.perf_counter_ns() - start, time.process_time_ns() - busy, flush=True)
    except Exception as error:
        print(type(error).__name__, str(error).replace("\n", " ")[:200], flush=True)
