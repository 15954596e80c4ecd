"""Where the copies of an object are, and are to be, as devices fail and come back."""

from tests.reference.rebuild_state import Device, Item, Task


def lose_copies(item: Item, devices: list[Device]) -> None:
    """Copies on devices that are gone are lost; the devices keep them."""
    for position, device in enumerate(item.places):
        if device is not None and devices[device].is_down:
            item.held[device] = (position, position in item.made)
            item.places[position] = None
            item.stays.discard(position)
            item.lost += 1


def give_back(item: Item, returning: list[Device]) -> set[int]:
    """What devices bring back of an object: the positions of copies that are there again.

    Of a copy that was made anew meanwhile nothing is needed.
    """
    back = set()
    for device in returning:
        position, was_made = item.held.pop(device.number, (None, False))
        if position is None:
            continue
        if item.places[position] is not None:
            item.surplus += 1
            continue
        item.places[position] = device.number
        (item.made.add if was_made else item.made.discard)(position)
        item.returned += 1
        back.add(position)
    return back


def stay(item: Item, after: list[int], under_way: list[Task], back: set[int]) -> None:
    """Note which copies stay because devices only came back: nothing begins to move by that."""
    for position, device in enumerate(item.places):
        if device is None or device in after:
            continue
        homes = [task.destination.number for task in under_way if task.position == position]
        if position in back or not any(home in after for home in homes):
            item.stays.add(position)


def homes_of(
    item: Item, after: list[int], missing: list[int], under_way: list[Task]
) -> dict[int, int]:
    """The home of each copy that is to come.

    Copies stay where they are; devices that the set gains take missing ones, then those of
    devices that leave it. What is under way goes on while its home is in the set.
    """
    places, wants = item.places, dict[int, int]()
    homes = [device for device in after if device not in places]
    settled = {n for n, device in enumerate(places) if device is not None and device in after}
    settled |= item.stays
    for task in under_way:
        home = task.destination.number
        if home in homes and task.position not in settled:
            homes.remove(home)
            wants[task.position] = home
    leaving = [n for n in range(len(places)) if n not in missing and n not in settled]
    for position in [*missing, *leaving]:
        if position not in wants and homes:
            wants[position] = homes.pop(0)
    return wants
