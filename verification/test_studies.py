"""800 studies drawn anew hold every law, and give the same bytes however they run.

The tests keep studies 0 to 39 (tests/integration/test_drawn_studies.py), on the core as
`dev.py test` builds it; these run on the core that users get.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.integration.test_drawn_studies import (
    AGAIN,
    fingerprint,
    pytestmark,
    test_drawn_studies_run_and_are_worth_running,
    test_parts_between_devices_and_ports_pass_no_more_than_devices_are_asked_for,
    test_pools_add_up_to_what_the_run_tells,
    test_threads_and_processes_change_nothing,
    test_what_is_lent_is_borrowed_and_what_is_gathered_is_sent,
)

WITH_THIS_CORE = """
import sys
from importlib import util
spec = util.spec_from_file_location("resilver._core", sys.argv[1])
core = sys.modules["resilver._core"] = util.module_from_spec(spec)
spec.loader.exec_module(core)
from resilver import simulate
assert core.__file__ == sys.argv[1]
from tests.integration.test_drawn_studies import printed
printed(map(int, sys.argv[2:]))
"""


def test_the_tests_core_and_the_users_tell_the_same(root: Path) -> None:
    """The profiles dev and release differ in optimisation and checks, and in no bit of a result."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    build = ["cargo", "build", "--quiet", "--package", "resilver-python"]
    extension = {**os.environ, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    subprocess.run(build, cwd=root, env=extension, check=True)
    numbers = AGAIN[:40]
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            WITH_THIS_CORE,
            folder / "debug" / "lib_core.so",
            *map(str, numbers),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == [fingerprint(number) for number in numbers]
