"""Random CRUSH maps in the text form of `crushtool`, and what to ask of each, for hypothesis."""

from dataclasses import dataclass

from hypothesis import strategies as st

# Types from the device up; ids need not follow each other.
TYPES = {"osd": 0, "host": 1, "chassis": 2, "rack": 3, "row": 5, "root": 10}
# Kinds of buckets. The compiler makes shadows for device classes of the straw kinds only.
KINDS = ["uniform", "list", "tree", "straw", "straw2"]
STRAWS = ["straw", "straw2"]
CLASSES = ["hdd", "ssd", "nvme"]

# The compiler refuses a device heavier than 100; buckets it weighs at will. Ordinary weights
# prevail, since a bucket in which one item has nearly all the weight says little.
ORDINARY = st.one_of(st.just(1.0), st.floats(0.5, 16.0, width=32))
EXTREME = st.sampled_from([0.0, 0.00002, 0.001, 99.99998, 100.0])
HEAVY = st.sampled_from([0.0, 0.00002, 600.0, 6000.0])
DEVICE_WEIGHT = st.sampled_from([ORDINARY] * 7 + [EXTREME]).flatmap(lambda weight: weight)
BUCKET_WEIGHT = st.sampled_from([st.none()] * 5 + [ORDINARY] * 4 + [HEAVY]).flatmap(
    lambda weight: weight
)

TUNABLES = {
    "choose_local_tries": st.integers(0, 4),
    "choose_local_fallback_tries": st.integers(0, 6),
    "choose_total_tries": st.one_of(st.sampled_from([0, 1, 19, 50]), st.integers(0, 60)),
    "chooseleaf_descend_once": st.integers(0, 1),
    "chooseleaf_vary_r": st.integers(0, 5),
    "chooseleaf_stable": st.integers(0, 1),
    "straw_calc_version": st.integers(0, 1),
}
PROFILES = [
    (2, 5, 19, 0, 0, 0, 0),
    (0, 0, 50, 1, 0, 0, 0),
    (0, 0, 50, 1, 1, 0, 0),
    (0, 0, 50, 1, 1, 0, 1),
    (0, 0, 50, 1, 1, 1, 1),
]


@dataclass(frozen=True)
class Question:
    """A map and what to ask of it."""

    text: str
    copies: int
    reweights: dict[int, float]
    max_device: int


@dataclass
class Item:
    """A bucket or device that no bucket holds yet."""

    name: str
    id: int


class Writer:
    """Writes one map, drawing every choice."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.devices: list[int] = []
        self.classes: list[str] = []
        self.next_bucket = 0
        self.straw2: list[tuple[int, int]] = []
        self.names: list[str] = []
        self.levels: list[str] = []

    def tunables(self) -> None:
        profile = self.draw(st.one_of(st.none(), st.sampled_from(PROFILES)))
        for index, (name, values) in enumerate(TUNABLES.items()):
            value = self.draw(values) if profile is None else profile[index]
            self.lines.append(f"tunable {name} {value}")
        self.lines.append("tunable allowed_bucket_algs 62")

    def weight(self, items: list[Item], kind: str) -> list[float | None]:
        """The weights of a bucket's items; `None` leaves an item its own."""
        of = [DEVICE_WEIGHT if item.id >= 0 else BUCKET_WEIGHT for item in items]
        if kind == "uniform":
            # The compiler takes a weight of zero for an overflow here, and aborts.
            return [self.draw(st.sampled_from([0.001, 1.0, 2.5, 100.0]))] * len(items)
        weights = [self.draw(weight) for weight in of]
        # A tree without any weight reads beyond its items in Ceph, whatever stands there.
        if kind == "tree" and not any(weights):
            weights = [1.0] * len(items)
        return weights

    def bucket(self, type_name: str, items: list[Item], kinds: list[str]) -> Item:
        kind = self.draw(st.sampled_from(kinds))
        self.next_bucket -= self.draw(st.integers(1, 3))
        name = f"{type_name}{-self.next_bucket}"
        self.lines += [
            f"{type_name} {name} {{",
            f"\tid {self.next_bucket}",
            f"\talg {kind}",
            "\thash 0",
        ]
        for item, weight in zip(items, self.weight(items, kind), strict=True):
            self.lines.append(
                f"\titem {item.name}" + ("" if weight is None else f" weight {weight:.5f}")
            )
        self.lines.append("}")
        if kind == "straw2" and items:
            self.straw2.append((self.next_bucket, len(items)))
        self.names.append(name)
        return Item(name, self.next_bucket)

    def tree(self, levels: list[str]) -> None:
        """Devices under hosts and so on up to one root; some items skip a level."""
        hosts = self.draw(st.integers(1, 14))
        sizes = [
            self.draw(st.sampled_from([1, 2, 3, 4, 5, 6, int(host == 0)])) for host in range(hosts)
        ]
        groups: list[list[Item]] = []
        device = 0
        for size in sizes:
            device += self.draw(st.integers(0, 2))
            groups.append([Item(f"osd.{id}", id) for id in range(device, device + size)])
            device += size
        self.devices = [item.id for group in groups for item in group]
        self.levels = levels
        has_classes = self.draw(st.integers(0, 3)) == 0
        for id in self.devices:
            name = f" class {self.draw(st.sampled_from(CLASSES[:2]))}" if has_classes else ""
            self.lines.append(f"device {id} osd.{id}{name}")
            if name and name[7:] not in self.classes:
                self.classes.append(name[7:])
        self.lines += [f"type {id} {name}" for name, id in TYPES.items()]
        mixed = [KINDS, KINDS, STRAWS, ["straw2"], *([kind] for kind in KINDS)]
        kinds = STRAWS if has_classes else self.draw(st.sampled_from(mixed))
        for number, level in enumerate(levels):
            items: list[Item] = []
            for group in groups:
                # Now and then a group skips a level, so that buckets hold items of several types.
                if len(groups) > 1 and number > 0 and self.draw(st.integers(0, 9)) == 0:
                    items += group
                else:
                    items.append(self.bucket(level, group, kinds))
            share = self.draw(st.integers(1, 4))
            groups = [items[first : first + share] for first in range(0, len(items), share)]
        self.bucket("root", [item for group in groups for item in group], kinds)

    def rule(self, number: int) -> None:
        kind = self.draw(st.sampled_from(["replicated", "erasure"]))
        self.lines += [
            f"rule rule{number} {{",
            f"\tid {number}",
            f"\ttype {kind}",
            "\tmin_size 1",
            "\tmax_size 10",
        ]
        for block in range(self.draw(st.sampled_from([1, 1, 1, 2, 3]))):
            for name, values in {
                "set_choose_tries": st.integers(0, 60),
                "set_chooseleaf_tries": st.integers(0, 6),
                "set_choose_local_tries": st.integers(0, 4),
                "set_choose_local_fallback_tries": st.integers(0, 6),
                "set_chooseleaf_vary_r": st.integers(0, 5),
                "set_chooseleaf_stable": st.integers(0, 1),
            }.items():
                if self.draw(st.integers(0, 5)) == 0:
                    self.lines.append(f"\tstep {name} {self.draw(values)}")
            self.block(block)
        self.lines.append("}")

    def block(self, number: int) -> None:
        """One take, the steps that choose, one emit."""
        count = st.sampled_from([0, 0, 0, 1, 2, 3, 4, -1, -2])
        mode = st.sampled_from(["firstn", "indep"])
        inner = st.sampled_from(list(TYPES))
        if number and self.draw(st.integers(0, 4)) == 0:
            self.lines += [
                f"\tstep take osd.{self.draw(st.sampled_from(self.devices))}",
                "\tstep emit",
            ]
            return
        root = (
            self.names[-1]
            if self.draw(st.integers(0, 7))
            else self.draw(st.sampled_from(self.names))
        )
        shadow = (
            f" class {self.draw(st.sampled_from(self.classes))}"
            if self.classes and self.draw(st.booleans())
            else ""
        )
        self.lines.append(f"\tstep take {root}{shadow}")
        steps = []
        if self.draw(st.booleans()):
            # What operators write: one type apart, or some of it and in each some of a lower one.
            upper = self.draw(st.integers(-1, len(self.levels) - 1))
            lower = self.draw(st.integers(-1, max(upper - 1, -1)))
            domain, below = (["osd", *self.levels][index + 1] for index in (upper, lower))
            if upper > lower and self.draw(st.booleans()):
                steps.append(f"choose {self.draw(mode)} {self.draw(count)} type {domain}")
                domain = below
            steps.append(f"chooseleaf {self.draw(mode)} {self.draw(count)} type {domain}")
        else:
            for _ in range(self.draw(st.sampled_from([0, 0, 1, 1, 2]))):
                type_name = self.draw(st.sampled_from(list(TYPES)[1:]))
                steps.append(f"choose {self.draw(mode)} {self.draw(count)} type {type_name}")
            # The tester counts by device and falls over buckets, so the last step ends at devices.
            last = f"{self.draw(mode)} {self.draw(count)} type"
            steps.append(
                self.draw(
                    st.sampled_from([f"choose {last} osd", f"chooseleaf {last} {self.draw(inner)}"])
                )
            )
        self.lines += [f"\tstep {step}" for step in steps] + ["\tstep emit"]

    def choose_args(self) -> None:
        """Stand-in weights, by position, and ids for some straw2 buckets. The tester uses set 0."""
        if not self.straw2 or self.draw(st.booleans()):
            return
        self.lines.append("choose_args 0 {")
        for bucket, size in self.straw2:
            if self.draw(st.integers(0, 2)) == 0:
                continue
            self.lines += ["  {", f"    bucket_id {bucket}", "    weight_set ["]
            for _ in range(self.draw(st.integers(1, 3))):
                weights = [self.draw(DEVICE_WEIGHT) for _ in range(size)]
                self.lines.append(f"      [ {' '.join(f'{weight:.5f}' for weight in weights)} ]")
            self.lines.append("    ]")
            if self.draw(st.booleans()):
                ids = [str(self.draw(st.integers(-500, -1))) for _ in range(size)]
                self.lines.append(f"    ids [ {' '.join(ids)} ]")
            self.lines.append("  }")
        self.lines.append("}")


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A map of one tree, three rules, and what to ask of it."""
    writer = Writer(draw)
    writer.tunables()
    names = list(TYPES)[1:-1]
    levels = [name for name in names if name == "host" or draw(st.booleans())]
    writer.tree(levels)
    for number in range(3):
        writer.rule(number)
    writer.choose_args()
    reweight = st.one_of(st.just(0.0), st.integers(0, 64).map(lambda part: part / 64))
    reweights = {id: draw(reweight) for id in writer.devices if draw(st.integers(0, 3)) == 0}
    # The tester says nothing about a map whose devices are all out.
    if len([id for id, weight in reweights.items() if weight == 0.0]) == len(writer.devices):
        reweights = {}
    text = "\n".join(writer.lines) + "\n"
    return Question(text, draw(st.integers(1, 9)), reweights, max(writer.devices) + 1)
