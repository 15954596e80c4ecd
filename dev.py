#!/usr/bin/env python3
"""The one entry for a checkout: build, run, test, lint, bench and document it.

    python3 dev.py run                    build, then `resilver demo`
    python3 dev.py run check STUDY.toml   build, then any other resilver command
    python3 dev.py test                   everything a change must pass
    python3 dev.py test --since main      what the change since that commit can reach, sooner
    python3 dev.py test -k crush          only these Python tests (any pytest arguments)
    python3 dev.py test --only cargo      only the named steps; --keep-going does the rest
    python3 dev.py verify [NAME...]       what tests try a little, at scale and drawn anew
    python3 dev.py lint [--fix]           formatting, lints and types; --fix repairs them
    python3 dev.py sizes [--lower]        lines by room beside ceiling and budget; --lower those
    python3 dev.py bench [NAME...]        benches, each prints its goal beside its rate
    python3 dev.py docs                   the documentation, into docs/_build/html
    python3 dev.py web                    the page that computes, and its core as WebAssembly
    python3 dev.py locks                  what pins all dependencies, after a change of some
    python3 dev.py wheel                  the wheel, into dist: what users without Rust install

It needs Python 3.11 or later, Rust and a C linker, and nothing installed from a package index:
it makes `.venv` itself, from the pins in pyproject.toml and constraints.txt, and does again only
what changed. It writes only inside the checkout (pip and cargo keep their download caches where
they always do), and works without a network once everything is there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial

from tools.budget import check_sizes, lower_ceilings
from tools.build import prepare
from tools.checkout import (
    BIN,
    INTERRUPTED,
    MACHINE_LACKS,
    ROOT,
    STEP_FAILED,
    DevError,
    child_environment,
    maturin_environment,
    run,
    say,
)
from tools.front import build_front, check_front
from tools.locks import renew, write_rust_lock
from tools.since import Selection, choose
from tools.steps import Row, Steps, counted, processor_seconds
from tools.summaries import SLOW_SECONDS, cargo_summary, pytest_summary
from tools.web import build_web
from tools.wheel import build_wheel

# ---------------------------------------------------------------------- the commands


def command_run(arguments: Sequence[str]) -> int:
    """Build, then run `resilver demo` with these arguments, or the command they name."""
    env = prepare(profile="local")
    words = list(arguments[1:] if arguments[:1] == ["--"] else arguments)
    if not words or words[0].startswith("-"):
        words = ["demo", *words]
    # In place of this process, so that Ctrl-C and exit codes are resilver's own.
    os.execve(BIN / "resilver", ["resilver", *words], env)


MYPY = ["mypy"]
# A warning is an error, and no network is used.
SPHINX = ["sphinx-build", "-W", "--keep-going", "--quiet", "-b", "html"]
SPHINX += ["-d", "docs/_build/doctrees", "docs", "docs/_build/html"]


def named(packages: Sequence[str]) -> list[str]:
    """Cargo's arguments for some crates; for all of them where none is named."""
    return [word for name in packages for word in ("-p", name)] or ["--workspace"]


def format_steps(steps: Steps, env: dict[str, str], fix: bool = False) -> None:
    """Formatting of both languages and lints of Python, in seconds and without a core."""
    check = [] if fix else ["--check"]
    repair = ["--fix"] if fix else []
    steps.step("format", lambda: run(["ruff", "format", "--quiet", *check, "."], env))
    steps.step("ruff", lambda: run(["ruff", "check", "--quiet", *repair, "."], env))
    steps.step("rustfmt", lambda: run(["cargo", "fmt", "--all", *check], env))


def clippy_step(steps: Steps, env: dict[str, str], packages: Sequence[str] = ()) -> None:
    """Lints of Rust, which compile what they read."""
    clippy = [*named(packages), "--all-targets", "--quiet", "--", "-D", "warnings"]
    steps.step("clippy", lambda: run(["cargo", "clippy", *clippy], maturin_environment(env)))


def command_test(arguments: Sequence[str], steps: Steps, since: str | None = None) -> int:
    """Everything a change must pass, or what it can reach; with pytest arguments, those tests."""
    selected = list(arguments[1:] if arguments[:1] == ["--"] else arguments)
    chosen = Selection("")
    if since is not None:
        if (found := choose(since)) is None:
            say(f"since {since}: nothing changed, so there is nothing to test")
            return 0
        chosen, steps.left_out = found, found.left_out
        say(chosen.sentence)
    colour = "always" if sys.stdout.isatty() else "never"
    workers = (
        []
        if any(word.startswith(("-n", "--numprocesses")) for word in selected)
        # One more than processors: some tests wait for what sleeps.
        else ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadgroup"]
    )
    slow = ["--durations=0", f"--durations-min={SLOW_SECONDS:g}", "-rs"]
    colours = f"--color={'yes' if colour == 'always' else 'no'}"
    pytest = ["pytest", colours, *workers, *slow, *chosen.tests, *selected]
    cargo = ["cargo", "test", *named(chosen.tested), "--quiet", "--color", colour]
    if steps.keep_going:
        cargo.append("--no-fail-fast")
    if "pytest" in steps.only:
        steps.only = [*steps.only, "core"]
    if not selected:
        steps.step("sizes", check_sizes)
    start = time.monotonic()
    # The Rust tests are compiled while packages are fetched; the core is linked from the same
    # libraries.
    is_wanted = not selected and (not steps.only or {"cargo", "pytest"} & set(steps.only))
    is_wanted = is_wanted and "cargo" not in steps.left_out
    env = prepare(("dev", "docs"), beside=[*cargo, "--no-run"] if is_wanted else [])
    steps.rows.append(Row("prepare", time.monotonic() - start, processor_seconds(), "ok"))
    if not selected:
        format_steps(steps, env)
        # They need no core, and the compiler leaves a processor idle now and then.
        steps.beside("mypy", MYPY, env)
        steps.beside("docs", SPHINX, env)
        # It compiles in a folder of its own, and nothing before pytest needs it.
        steps.beside("web", [sys.executable, "dev.py", "web", "--checked"], env)
    steps.step("core", lambda: prepare(("dev", "docs"), "dev"))
    if not selected:
        clippy_step(steps, env, chosen.packages)
        steps.step("cargo", lambda: counted(steps, cargo, env, cargo_summary))
        steps.join()
    steps.step("pytest", lambda: counted(steps, pytest, env, pytest_summary))
    of_change = "" if since is None else f" --since {since}"
    of_python = " (a selection of the Python tests)" if selected else ""
    return steps.report(f"dev.py test{of_change}{of_python}")


# Rust tests that draw by these variables, by the word in a file of verification/ that they go with.
AT_SCALE: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "maps": (
        "resilver-crush",
        [],
        {"RESILVER_ORACLE_MAPS": "800", "RESILVER_FUZZ": "100000"},
    ),
    "rare": ("resilver-durability", ["rare_truth"], {"RESILVER_SEEDS": "200"}),
}


def command_verify(names: Sequence[str], steps: Steps) -> int:
    """What the tests try a little, twenty times over, drawn anew, on the core that users get."""
    folder = ROOT / "verification"
    paths = [
        str(path.relative_to(ROOT))
        for path in sorted(folder.glob("test_*.py"))
        if not names or any(name in path.stem for name in names)
    ]
    if not paths:
        raise DevError(f"nothing is called like {' or '.join(names)}; see verification/", 2)
    env = prepare(("dev",), "release")
    seed = env.setdefault("RESILVER_SEED", str(random.SystemRandom().randrange(2**32)))
    env.setdefault("RESILVER_SCALE", "20")
    say(f"drawn from RESILVER_SEED={seed}")
    command = ["pytest", "-n", "auto", "--dist", "loadgroup", f"--hypothesis-seed={seed}", *paths]
    for word, (package, tests, variables) in AT_SCALE.items():
        if any(word in path for path in paths):
            at_scale = env | variables | {"RESILVER_ORACLE_FIRST": seed}
            cargo = ["cargo", "test", "-p", package, "--test", "suite", "--quiet", *tests]
            steps.step(f"cargo {word}", partial(counted, steps, cargo, at_scale, cargo_summary))
    steps.step("pytest", lambda: counted(steps, command, env, pytest_summary))
    return steps.report(f"dev.py verify, RESILVER_SEED={seed}")


def command_lint(steps: Steps, fix: bool) -> int:
    """Formatting, lints and types, without building the core."""
    env = prepare(("dev",))
    write_rust_lock(env)
    steps.beside("mypy", MYPY, env)
    format_steps(steps, env, fix)
    clippy_step(steps, env)
    steps.join()
    return steps.report("dev.py lint")


def command_bench(names: Sequence[str], steps: Steps) -> int:
    """Run the benches whose names contain any of these words; each prints goal and rate."""
    env = prepare(("dev",), "release")

    def wanted(stem: str) -> bool:
        return not names or any(name in stem for name in names)

    for path in sorted((ROOT / "crates").glob("*/benches/*.rs")):
        package = f"resilver-{path.parent.parent.name}"
        command = ["cargo", "bench", "--quiet", "-p", package, "--bench", path.stem]
        if wanted(path.stem):
            steps.step(f"{package}/{path.stem}", partial(run, command, env))
    for path in sorted((ROOT / "benches").glob("*.py")):
        if wanted(path.stem):
            steps.step(path.name, partial(run, ["python", str(path)], env))
    if not steps.rows:
        named = " or ".join(names) or "anything"
        raise DevError(f"no bench is called like {named}; see crates/*/benches and benches/", 2)
    return steps.report("dev.py bench")


def command_docs() -> int:
    """Build the documentation and say where it is."""
    run(SPHINX, prepare(("docs",)))
    print(f"{ROOT / 'docs' / '_build' / 'html' / 'index.html'}")
    return 0


def command_web(is_checked: bool) -> int:
    """Build the page that computes and say where its core is."""
    if is_checked:
        web_for_tests(child_environment())
        return 0
    print(build_web(env := child_environment()))
    build_front(env)
    return 0


def command_locks() -> int:
    """Pin all dependencies again."""
    renew(child_environment())
    return 0


def command_wheel() -> int:
    """Build the wheel and check it."""
    build_wheel()
    return 0


def command_sizes(lower: bool) -> int:
    """Print the size of each room beside its ceiling and its budget."""
    if lower:
        lower_ceilings()
    check_sizes()
    return 0


def web_for_tests(env: dict[str, str]) -> None:
    """Build what the tests in a browser run; they are skipped where nothing builds it."""
    try:
        build_web(env, "dev")
        check_front(env)
        build_front(env)
    except DevError as problem:
        if problem.code != MACHINE_LACKS:
            raise
        say(f"{problem}: the tests of the page that computes are skipped")


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the command line into our options and the words that another program gets."""
    parser = argparse.ArgumentParser(
        prog="dev.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(
        dest="command",
        required=True,
        metavar="run | test | verify | lint | sizes | bench | docs | web | wheel | locks",
    )
    commands.add_parser(
        "run", add_help=False, help="build, then `resilver demo` or the command given"
    )
    test = commands.add_parser(
        "test", help="everything a change must pass; other arguments are pytest's"
    )
    test.add_argument(
        "--since",
        metavar="COMMIT",
        help="only the steps, crates, tests and pages that changes since this commit can reach",
    )
    verify = commands.add_parser("verify", help="what tests try a little, at scale, drawn anew")
    verify.add_argument(
        "names", nargs="*", help="only files of verification/ whose name has one of these words"
    )
    lint = commands.add_parser("lint", help="formatting, lints and types")
    lint.add_argument("--fix", action="store_true", help="repair what can be repaired")
    sizes = commands.add_parser("sizes", help="lines by room beside their ceilings and budgets")
    sizes.add_argument("--lower", action="store_true", help="write what stands as ceilings")
    bench = commands.add_parser("bench", help="benches, each with its goal beside its rate")
    bench.add_argument(
        "names", nargs="*", help="only benches whose name contains one of these words"
    )
    for sub in (test, lint):
        sub.add_argument(
            "--only",
            action="append",
            default=[],
            metavar="STEP",
            help="only this step (repeatable)",
        )
    for sub in (test, lint, bench):
        sub.add_argument("--keep-going", action="store_true", help="go on after a step that failed")
    commands.add_parser("docs", help="build the documentation")
    web = commands.add_parser(
        "web", help="build the page that computes, with the core as WebAssembly"
    )
    web.add_argument(
        "--checked", action="store_true", help="the core with its checks, as tests want it"
    )
    commands.add_parser("locks", help="pin all dependencies again, after a change of some")
    commands.add_parser("wheel", help="build the wheel, which needs no compiler to install")
    if arguments[:1] == ["run"]:
        # All words after `run` are resilver's, --help among them.
        return argparse.Namespace(command="run"), list(arguments[1:])
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "test":
        parser.error(f"dev.py {options.command} does not know {' '.join(rest)}")
    return options, rest


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit code."""
    options, rest = parse(arguments)
    steps = Steps(getattr(options, "keep_going", False), getattr(options, "only", ()))
    # A `timeout` or a CI that gives up ends us as Ctrl-C does, and the tool under way with us.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        commands = {
            "run": lambda: command_run(rest),
            "test": lambda: command_test(rest, steps, options.since),
            "verify": lambda: command_verify(options.names, steps),
            "lint": lambda: command_lint(steps, options.fix),
            "sizes": lambda: command_sizes(options.lower),
            "bench": lambda: command_bench(options.names, steps),
            "docs": command_docs,
            "web": lambda: command_web(options.checked),
            "locks": command_locks,
            "wheel": command_wheel,
        }
        return commands[options.command]()
    except DevError as problem:
        if steps.rows and problem.code == STEP_FAILED:
            steps.report(f"dev.py {options.command}: stopped")
        print(f"dev.py: {problem}", file=sys.stderr)
        return problem.code
    except KeyboardInterrupt:
        print("dev.py: interrupted; run it again to go on", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
