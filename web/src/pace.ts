/** How long a run takes, told from how far it has come. */

import type { Answer } from "../../crates/web/core.mjs";

/** Seconds of computing before which nothing is told, and below which share nothing is known. */
const SOONEST = 15;
const LEAST_SHARE = 0.05;

export class Pace {
  #most = 0;

  /** Seconds that a run takes in all, about, after so many of them; null where that is not known yet. */
  seconds(answer: Answer, elapsed: number): number | null {
    const share = this.#share(answer);
    // A balancer finds new moves as old ones end: how many are to come is not known, but that so much time is gone.
    if (share < LEAST_SHARE) return elapsed;
    return elapsed < SOONEST ? null : elapsed / share;
  }

  #share(answer: Answer): number {
    if (answer.state === "working") return answer.fraction;
    if (answer.state !== "healing") return 0;
    this.#most = Math.max(this.#most, answer.unclean_groups);
    return this.#most === 0 ? 0 : 1 - answer.unclean_groups / this.#most;
  }
}
