"""Commands whose options are declared once, as fields of dataclasses: name, type, default, help."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from resilver.errors import ConfigError, PlacementError
from resilver.request import is_asked, names_of, places_of

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed or the answer is no, 2 bad usage or input, 3 a sweep left "
    "incomplete, 4 a published number differs (reproduce), 130 interrupted. Errors are lines on "
    "stderr, with --json too."
)

_Perform = TypeVar("_Perform", bound=Callable[..., Any])


# Where a command has more options than this, those that many commands have stand under headings.
_MANY = 12
_HEADINGS = {
    "Output": (
        *("--output", "--tables", "--figures", "--format", "--keep"),
        *("--json", "--quiet", "--verbose"),
    ),
    "Workers": ("--workers", "--cluster", "--cluster-config", "--split"),
}
_HEADING = {name: heading for heading, names in _HEADINGS.items() for name in names}


def _plain(params: list[Any]) -> list[Any]:
    """Parameters without the type that the library writes beside flags and arguments."""
    for param in params:
        if len(params) > _MANY and getattr(param, "rich_help_panel", None) is None:
            param.rich_help_panel = next(filter(None, map(_HEADING.get, param.opts)), None)
        if isinstance(param, TyperArgument):
            setattr(param, "display_type_rich", lambda ctx: "")  # noqa: B010
        elif param.is_flag and param.metavar is None:
            param.metavar = ""
            if param.default is None and not param.expose_value:
                # What installs completion: a default of None would be coerced, by a library whose
                # import takes longer than a help text.
                param.default = False
    # What is asked stands before where the answer goes.
    return sorted(params, key=lambda one: getattr(one, "rich_help_panel", None) == "Output")


class Command(TyperCommand):
    """A command whose help names what is typed, and its exit codes."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.epilog = self.epilog or EXIT_CODES

    reads: tuple[str, ...] = ()
    """The kinds of file that its arguments may be, as `resilver.cli.wrong_file` names them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, as `_plain` has them."""
        return _plain(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Perform it; where it refuses a file of a kind that it does not read, name the reader."""
        try:
            return super().invoke(ctx)
        except (ConfigError, PlacementError):
            from resilver.cli.wrong_file import wrong_file

            values = [ctx.params[one.name] for one in self.params if isinstance(one, TyperArgument)]
            files = [file for one in values for file in (one if isinstance(one, list) else [one])]
            wrong = wrong_file(self.reads, files) if self.reads else None
            if wrong is None:
                raise
            raise wrong from None

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line; those that must be there without braces."""
        pieces = super().collect_usage_pieces(ctx)
        pieces = [piece.replace("...]...", "]...") for piece in pieces]
        return [piece.replace("{", "").replace("}", "") for piece in pieces]


@dataclasses.dataclass(frozen=True)
class Promise:
    """A command whose module is imported when the command is performed or its help is read.

    Args:
        name: Its name.
        function: Its function, as `module:name` below `resilver.cli`.
        kind: How its words are read, a class of commands in the same form; by default `Command`.
        reads: The kinds of file that its arguments may be; none where they may be any.
    """

    name: str
    function: str
    kind: str = "command:Command"
    reads: tuple[str, ...] = ()


class Promised(Command):
    """A command of an overview, without its options until it is asked for."""

    @property
    def _promise(self) -> Promise:
        promise: Promise = getattr(self.callback, "promise")  # noqa: B009
        return promise

    @property
    def help(self) -> str | None:
        """What an overview says of it: the first paragraph of its function's docstring."""
        return _summary(self._promise.function)

    @help.setter
    def help(self, text: str | None) -> None:
        """Keep nothing of what the library makes of the function that stands for the command."""

    def made(self) -> Command:
        """The command with its options."""
        promise = self._promise
        lone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        command(lone, self.rich_help_panel, name=self.name, cls=_found(promise.kind))(
            _found(promise.function)
        )
        made = typer.main.get_command(lone)
        assert isinstance(made, Command)
        made.reads = promise.reads
        return made

    def make_context(self, *args: Any, **more: Any) -> Any:
        """What the words of a command line mean to the command."""
        return self.made().make_context(*args, **more)


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"resilver.cli.{module}"), name)


def _summary(place: str) -> str:
    """The first paragraph of a function's docstring, read from a file that is not imported."""
    module, _, name = place.partition(":")
    text = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
    found = re.search(rf'^def {name}\(.*?"""(.*?)(?:\n\n|""")', text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return " ".join(found[1].split())


def promise(app: typer.Typer, promised: Promise, panel: str | None = None) -> None:
    """List a command whose module is imported when it is asked for.

    Args:
        app: The commands that it joins.
        promised: Where it is.
        panel: The heading of `--help` that it stands under.
    """

    def perform() -> None:
        raise AssertionError("the command that was made is performed instead")

    setattr(perform, "promise", promised)  # noqa: B010
    app.command(promised.name, cls=Promised, rich_help_panel=panel)(perform)


class Group(TyperGroup):
    """Commands under one name, with such help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, as `_plain` has them."""
        return _plain(super().get_params(ctx))


class Overview(Group):
    """All commands: the first panel's with a sentence each, and the others by name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words of a command line; of none, all that is to be said is how to ask."""
        if not args:
            print(ctx.get_help())
            raise typer.Exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """One screen; `resilver help all` has a sentence for each command."""
        if ctx.obj == ["all"]:
            super().format_help(ctx, formatter)
            return
        panels: dict[str, list[Any]] = {}
        for name in self.list_commands(ctx):
            listed: Any = self.commands[name]
            if not listed.hidden:
                panels.setdefault(listed.rich_help_panel, []).append(listed)
        (first, commands), *others = panels.items()
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS]")
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        with formatter.section(first):
            formatter.write_dl([(listed.name, listed.help) for listed in commands])
        with formatter.section("More commands"):
            names = ((panel, ", ".join(one.name for one in found)) for panel, found in others)
            formatter.write_dl(list(names))
        with formatter.section("Help"):
            formatter.write_dl(
                [
                    ("resilver COMMAND --help", "The options of a command, with examples."),
                    ("resilver help all", "All commands with a sentence each."),
                    ("resilver --version", "The version."),
                ]
            )
        formatter.write_paragraph()
        formatter.write_text(self.epilog or "")


def group(text: str, **more: Any) -> typer.Typer:
    """Commands under one name.

    Args:
        text: Their help.
        more: What `typer.Typer` takes.
    """
    more = {"no_args_is_help": True, "rich_markup_mode": "rich", **more}
    made = typer.Typer(cls=Group, help=text, epilog=EXIT_CODES, **more)

    @made.callback()
    def root() -> None:
        """Keep a single command below its group's name."""

    return made


def command(
    app: typer.Typer,
    panel: str | None = None,
    *,
    name: str | None = None,
    cls: type[Command] = Command,
) -> Callable[[_Perform], _Perform]:
    """Make a function a command of its name, with its docstring for help.

    Args:
        app: The commands that it joins.
        panel: The heading of `--help` that it stands under.
        name: Its name; by default the function's.
        cls: How its words are read.

    Returns:
        A decorator. A parameter of the function that is a dataclass brings that class's fields as
        options and arguments, and gets an instance of it; any other is an option itself, as Typer
        has it. What the function returns is the exit code; None is 0. One that returns an `Answer`
        has --json and --quiet, and its answer goes where its requests say.
    """

    def register(perform: _Perform) -> _Perform:
        hints = get_type_hints(perform, include_extras=True)
        kinds: dict[str, Any] = {}
        params: list[inspect.Parameter] = []
        declared = inspect.signature(perform).parameters
        replies = _replies(hints.get("return"))
        for key, param in declared.items():
            if dataclasses.is_dataclass(hints[key]):
                kinds[key] = hints[key]
                params += _params_of(kinds[key])
            elif key not in replies:
                params.append(param.replace(annotation=hints[key], kind=param.KEYWORD_ONLY))
        params += [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=hint)
            for key, hint in replies.items()
        ]

        def run(**given: Any) -> None:
            from resilver.cli import replying

            values = {name: _made(kind, given) for name, kind in kinds.items()}
            how = {key: given[key] if key in declared else given.pop(key) for key in replies}
            asked = [*values.values()]
            replying.check_places(asked)
            code = perform(**given, **values)
            if replies and code is not None:
                name = how.pop("context").command_path.partition(" ")[2]
                command = replying.command_line(name, *asked)
                how["as_json"] |= any(getattr(one, "format", None) == "json" for one in asked)
                said = replying.written(code, places_of(*asked), command)
                code = replying.reply(code, said, **how)
            if code:
                raise typer.Exit(code)

        # Paragraphs wrap where the terminal ends, and not where the source does.
        paragraphs = inspect.cleandoc(perform.__doc__ or "").split("\n\n")
        run.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
        run.__name__, run.__annotations__ = perform.__name__, {}
        setattr(run, "__signature__", inspect.Signature(params))  # noqa: B010
        app.command(name, cls=cls, rich_help_panel=panel)(run)
        return perform

    return register


def _replies(hint: Any) -> dict[str, Any]:
    """What a function that returns an answer is asked beside: how to print it, and its name."""
    if "Answer" not in [getattr(one, "__name__", "") for one in (hint, *get_args(hint))]:
        return {}
    from resilver.cli.options import Json, Quiet

    return {"as_json": Json, "quiet": Quiet, "context": typer.Context}


def _params_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            # What may stand several times is a list to the library; none given is None.
            default=_default(field),
            annotation=Annotated[
                _parsed(field, hints[field.name]), _info(field, hints[field.name])
            ],
        )
        for field in dataclasses.fields(kind)
        if is_asked(field)
    ]


def _info(field: dataclasses.Field[Any], hint: Any) -> Any:
    """An option or an argument as the library has it."""
    names, declared = names_of(field), field.metadata
    if not names:
        metavar, text = declared["metavar"], declared["text"]
        return typer.Argument(metavar=metavar, help=text, show_default=False)
    own = {"metavar": "N"} if int in (hint, *get_args(hint)) else {}
    more = {"show_default": False, **own, **declared["more"]}
    return typer.Option(*names, help=declared["text"], **more)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is dataclasses.MISSING:
        return inspect.Parameter.empty
    if field.metadata.get("flag"):
        return False
    return field.default or None if isinstance(field.default, tuple) else field.default


def _parsed(field: dataclasses.Field[Any], hint: Any) -> Any:
    if field.metadata.get("flag"):
        return bool
    return list[get_args(hint)[0]] | None if get_origin(hint) is tuple else hint  # type: ignore[misc]


def _made(kind: Any, given: dict[str, Any]) -> Any:
    """An instance of a dataclass of options, whose values leave `given`."""
    values = {}
    for field in dataclasses.fields(kind):
        if not is_asked(field):
            continue
        value = given.pop(field.name)
        if flag := field.metadata.get("flag"):
            value = flag if value else field.default
        is_many = isinstance(value, list) or isinstance(field.default, tuple)
        values[field.name] = tuple(value or ()) if is_many else value
    return kind(**values)
