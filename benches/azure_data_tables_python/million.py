"""Moves a table from one account to another through a folder, and through files, and compares the contents.

    python3 million.py target/release [rows]

The accounts are two `table-server`s with their data on disk. Each step is a command of `tables`, whose rate, processor time and largest memory are
shown. The contents of both accounts are compared by `tables` and by a reader of this script, which signs its own requests and hashes all entities in
key order. It needs no packages.
"""

import base64
import csv
import hashlib
import hmac
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from email.utils import formatdate
from urllib.parse import quote

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
PORTS = [10_922, 10_932]
PARTITIONS = 50
TABLE = "Readings"
MEMORY = 200


def store(port):
    endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
    return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};TableEndpoint={endpoint};"


def write_rows(path, count):
    """Writes a CSV with typed columns, as Storage Explorer does."""
    names = ["Name", "Level", "Total", "Value", "Valid", "At", "Remark"]
    types = ["Edm.String", "Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.Boolean", "Edm.DateTime", "Edm.String"]
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["PartitionKey", "RowKey"] + [cell for name in names for cell in (name, f"{name}@type")])
        for number in range(count):
            values = [
                f"station-{number % 1_000:05}",
                number % 100,
                number * 1_000_003,
                number / 8,
                "true" if number % 3 else "false",
                f"2026-11-27T{number % 24:02}:00:00Z",
                "gusts from the west, calm",
            ]
            cells = [cell for pair in zip(values, types) for cell in pair]
            rows.writerow([f"site-{number * PARTITIONS // count:03}", f"{number:09}"] + cells)


class Account:
    """An account of a `table-server`, read without `tables`."""

    def __init__(self, program, port):
        self.port = port
        command = [program, "--path", f"account-{port}", "--table-port", str(port)]
        command += ["--queue-port", str(port - 1), "--blob-port", str(port - 2)]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(f"account-{port}.log", "w"))
        while True:
            assert self.server.poll() is None, open(f"account-{port}.log").read()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)

    def hash(self):
        """Returns the number of all entities, and their hash in key order."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        path, count, digest, last, token = f"/{ACCOUNT}/{TABLE}()", 0, hashlib.sha256(), ("", ""), {}
        while True:
            date = formatdate(usegmt=True)
            signed = f"{date}\n/{ACCOUNT}{path}".encode()
            signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed, "sha256").digest()).decode()
            headers = {
                "x-ms-date": date,
                "x-ms-version": "2019-02-02",
                "Accept": "application/json;odata=fullmetadata",
                "Authorization": f"SharedKeyLite {ACCOUNT}:{signature}",
            }
            query = "&".join(f"{name}={quote(value)}" for name, value in token.items())
            connection.request("GET", path + (f"?{query}" if query else ""), headers=headers)
            response = connection.getresponse()
            body = response.read()
            assert response.status == 200, body
            for entity in json.loads(body)["value"]:
                key = (entity["PartitionKey"], entity["RowKey"])
                assert last < key, (last, key)
                last = key
                own = {name: value for name, value in entity.items() if not name.startswith(("odata.", "Timestamp"))}
                digest.update(json.dumps(own, sort_keys=True).encode())
                count += 1
            names = ["NextPartitionKey", "NextRowKey"]
            token = {name: response.headers[f"x-ms-continuation-{name}"] for name in names}
            token = {name: value for name, value in token.items() if value is not None}
            if not token:
                return count, digest.hexdigest()


class Tool:
    """The command `tables`."""

    def __init__(self, program, count):
        self.program, self.count = program, count

    def run(self, step, *arguments, least=None, code=0):
        """Runs a command, shows its rate and its largest memory, and returns its output."""
        with tempfile.TemporaryFile() as output:
            begun = time.perf_counter()
            command = subprocess.Popen([self.program, *arguments], stdout=output, stderr=subprocess.PIPE)
            errors = command.stderr.read().decode()
            _, status, usage = os.wait4(command.pid, 0)
            seconds, busy = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
            output.seek(0)
            text = output.read().decode()
        assert os.waitstatus_to_exitcode(status) == code, (arguments, errors)
        memory = usage.ru_maxrss // 1_024
        rate = self.count / seconds
        wanted = f" (target {least:,})" if least else ""
        print(f"| {step} | {rate:,.0f}{wanted} | {seconds:.1f} | {busy:.1f} | {memory} |", flush=True)
        assert memory < MEMORY, memory
        return text


def main():
    programs, count = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["1000000"])[0])
    tool = Tool(f"{programs}/tables", count)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        os.chdir(folder)
        write_rows("in.csv", count)
        print(f"{count:,} rows, in.csv {os.path.getsize('in.csv') >> 20} MB")
        print("| step | rows/s | seconds | processor seconds | memory, MB |\n| --- | --- | --- | --- | --- |")
        accounts = [Account(f"{programs}/table-server", port) for port in PORTS]
        (first, second) = [store(port) for port in PORTS]
        try:
            tool.run("CSV to folder", "import", TABLE, "in.csv", "--store", "source", least=50_000)
            tool.run("folder to CSV", "export", TABLE, "out.csv", "--store", "source", least=100_000)
            tool.run("folder to JSON lines", "export", TABLE, "out.jsonl", "--store", "source", least=100_000)
            tool.run("JSON lines to folder", "import", TABLE, "out.jsonl", "--store", "again")
            tool.run("JSON lines to account A", "import", TABLE, "out.jsonl", "--store", first, least=20_000)
            tool.run("account A to JSON lines", "export", TABLE, "out2.jsonl", "--store", first, least=20_000)
            copy = ["copy", TABLE, "--no-verify"]
            tool.run("account A to folder", *copy, "--store", first, "--to", "folder", least=20_000)
            tool.run("folder to account B", *copy, "--store", "folder", "--to", second, least=20_000)
            tool.run("second sync of A to B", "sync", TABLE, "--store", first, "--to", second, code=1)
            tool.run("second copy of A to B, verified", "copy", TABLE, "--store", first, "--to", second)
            tool.run("backup of account A", "backup", "backup", "--store", first)
            tool.run("second backup of account A", "backup", "backup", "--store", first)
            tool.run("restore to folder", "restore", "backup", "restored")
            stores = {"source": "source", "again": "again", "A": first, "folder": "folder", "B": second, "restored": "restored"}
            line = ["count", TABLE, "--checksum", "-o", "csv", "--store"]
            sums = {name: tool.run(f"checksum of {name}", *line, place) for name, place in stores.items()}
            assert len(set(sums.values())) == 1, sums
            hashes = {account.hash() for account in accounts}
            assert len(hashes) == 1 and next(iter(hashes))[0] == count, hashes
            print(f"checksum of `tables`: {next(iter(sums.values())).split()[-1]}; of this script: {next(iter(hashes))[1]}")
        finally:
            for account in accounts:
                account.server.terminate()
                account.server.wait()
            os.chdir("..")


main()
