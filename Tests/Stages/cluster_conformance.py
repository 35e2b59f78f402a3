"""The unit tests of what works on a store once more, on working copies of a store in PostgreSQL: the same tests, the same answers."""

import os
import re
import subprocess

from postgres_cell import Cell

# What a store remembers, what a ledger is, what becomes of events and functions when a process dies and another goes on.
SUITES = [r"StorageSQLiteTests\.ConformanceTests", r"LedgerTests\.", r"TriggersTests\.(Restart|Quarantine)Tests"]
ALL = [r"StorageSQLiteTests\.ConformanceTests", r"LedgerTests\.", r"TriggersTests\.", r"TreeDatabaseTests\.", r"AccountsTests\.",
       r"LinksTests\.", r"InvitesTests\.", r"MessagesTests\."]
# They copy the file of a store that goes on, as if it ended there: in PostgreSQL it has not.
ALONE = r"TriggersTests\.InlineCrashTests"


def conformance(folder, checks, is_long=False):
    """On servers of their own, for they take a connection for each store."""
    servers = os.path.join(folder, "conformance")
    os.makedirs(servers)
    cell = Cell(servers, connections=600)
    try:
        played = subprocess.run(
            [".build/debug/doubloonPackageTests.xctest", "--testing-library", "swift-testing",
             "--filter", "|".join(ALL if is_long else SUITES), "--skip", ALONE],
            env=dict(os.environ, DOUBLOON_TEST_POSTGRES=cell.url(), SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="4"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        said = re.sub(r"\x1b\[[0-9;]*m", "", played.stdout)
        counted = re.search(r"Test run with (\d+) tests? in \d+ suites? passed", said)
        stores = int(cell.ask("SELECT count(*) FROM pg_tables WHERE tablename = 'batch_log' AND schemaname LIKE 'test_%'") or 0)
        checks.check(f"{counted[1] if counted else 'no'} tests pass on stores in PostgreSQL", played.returncode == 0 and counted is not None,
                     "\n".join(line for line in said.split("\n") if "✘" in line)[:2000] or said[-1000:])
        checks.check(f"there were {stores} such stores", stores > 50)
    finally:
        cell.close()
