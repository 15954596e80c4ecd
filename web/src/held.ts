/** What lets something wait until another says so. */

/** A promise, and what keeps it. */
export function withGo(): { promise: Promise<void>; go: () => void } {
  let go = () => {};
  const promise = new Promise<void>((resolve) => {
    go = resolve;
  });
  return { promise, go };
}
