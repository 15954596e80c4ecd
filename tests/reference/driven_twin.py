"""The slow twin of rebuilds that sources or managers drive, after one failure.

Who drives gathers a copy, and hands each buffer over to the device that it is to be at.
"""

from collections import deque

from resilver.spec import System
from tests.reference.losses import failed_servers, find_losses
from tests.reference.rebuild_state import Buffer, Device, Outcome, Part, Task
from tests.reference.rebuild_twin import Rebuild


class Driven(Rebuild):
    """Sources push what is lost, or managers take copy after copy from a queue."""

    drivers: dict[Task, Device]
    queue: deque[Task]
    managers: list[Device]
    pushed: dict[Device, int]
    backlog: dict[Device, int]

    def fail(self, stage: int) -> None:
        """The only failure."""
        assert stage == 0
        self.drivers, self.queue, self.managers = {}, deque(), []
        self.pushed = dict.fromkeys(self.devices, 0)
        self.backlog = dict.fromkeys(self.devices, 0)
        self.is_begun = False
        super().fail(stage)

    def begin(self) -> None:
        """Find who drives what, each copy by its place among all destinations' copies."""
        tasks = [task for device in self.devices for task in device.tasks]
        for device in self.devices:
            device.tasks = []
        sign = {"smallest": 1, "largest": -1}.get(self.recovery.order, 0)
        risks = self.recovery.order == "risk"
        ordered = sorted(
            tasks, key=lambda t: (t.item.left if risks else sign * t.size, t.item.rank)
        )
        if self.recovery.driver == "manager":
            self.queue.extend(ordered)
            count = min(self.recovery.managers or 1, len(self.devices))
            for seat in range(count):
                first = seat * len(self.devices) // count
                ring = self.devices[first:] + self.devices[:first]
                free = (one for one in ring if not one.is_down and one not in self.managers)
                self.managers.extend([one] if (one := next(free, None)) else [])
            return
        given = dict.fromkeys(self.devices, 0)
        for task in tasks:
            for device, size in given.items():
                device.asked = size
            task.plan = self.choose(task, set())
            assert task.plan is not None
            self.drivers[task] = self.devices[task.item.places[task.plan] or 0]
            given[self.drivers[task]] += task.size
        for device in self.devices:
            device.asked = 0
        for task in ordered:
            self.drivers[task].tasks.append(task)

    def driver(self, task: Task) -> Device:
        """The source that a copy is made of, or the manager that took it."""
        return self.drivers[task]

    def next_task(self, driver: Device) -> Task | None:
        """The next of its own, or of the queue."""
        if not self.is_begun:
            self.is_begun = True
            self.begin()
        task = driver.next_task()
        if task is None and self.queue and driver in self.managers:
            task = self.queue.popleft()
            self.drivers[task] = driver
            driver.tasks.append(task)
        return task

    def arrived(self, buffer: Buffer, part: Part) -> None:
        """A buffer is with its driver, which hands it over."""
        task, driver = buffer.task, self.driver(buffer.task)
        part.is_in_flight = False
        buffer.has_arrived = True
        first = int(buffer.number == 0)
        if part.source is not driver:
            self.outcome.transfer(part.source, driver, first, buffer.size)
        if driver is task.destination:
            self.write(buffer)
            return

        def handed_over() -> None:
            self.outcome.transfer(driver, task.destination, first, buffer.size)
            pushed = self.pushed[task.destination] = self.pushed[task.destination] + buffer.size
            self.backlog[task.destination] = max(self.backlog[task.destination], pushed)
            self.write(buffer)

        driver.sent += buffer.size
        ends = (driver.endpoint, task.destination.endpoint)
        self.network.send(*ends, buffer.size, handed_over, lambda: False)

    def write(self, buffer: Buffer) -> None:
        """A buffer is written where it is to be, and its driver hears of it."""
        task, driver = buffer.task, self.driver(buffer.task)
        destination = task.destination

        def done() -> None:
            driver.receive_held -= buffer.size
            driver.outstanding -= 1
            self.ask(driver)

        def written() -> None:
            destination.finished = self.clock.now
            task.written += 1
            buffer.is_done = True
            if task.written == len(task.buffers):
                driver.tasks.remove(task)
                destination.tasks.append(task)
                self.completed(task)
            if driver is destination:
                done()
                return
            self.pushed[destination] -= buffer.size
            ends = (destination.endpoint, driver.endpoint)
            self.network.send(*ends, self.recovery.control_message, done, lambda: False)

        disk = destination.disk
        self.clock.at(disk.submit("write", task.object, buffer.offset, buffer.size), written)


def rebuild(system: System, seed: int) -> tuple[Outcome, list[int]]:
    """One run, and the most that each device was handed and had not written yet.

    Args:
        system: The system, of which every server is an endpoint.
        seed: The seed of every draw.
    """
    losses, gone = find_losses(system, seed), failed_servers(system, seed)
    run = Driven(system, seed, losses, gone, list(range(system.server_count)))
    outcome = run.run()
    return outcome, [run.backlog[device] for device in run.devices]
