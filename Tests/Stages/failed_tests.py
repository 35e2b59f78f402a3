"""Says which tests of Swift Testing's xUnit report failed, as a pattern for `swift test --filter`:

    failed_tests.py REPORT --most N

The exit code is 1, and nothing is printed, where none failed, more than N did, or there is no report, as after a crash.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree


def failed(report):
    """A pattern for every test that failed. Suites within suites are parted by a dot in the report, by a slash for a filter."""
    found = []
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            function = case.get("name", "").split("(")[0]
            names = [*case.get("classname", "").split("."), function]
            found.append("^" + "[./]".join(map(re.escape, names)) + "\\(")
    return sorted(set(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("--most", type=int, required=True)
    options = parser.parse_args()
    try:
        tests = failed(options.report)
    except (OSError, ElementTree.ParseError):
        return 1
    if not 0 < len(tests) <= options.most:
        return 1
    print("|".join(tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
