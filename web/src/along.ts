/** What gives the same answer elsewhere: a command, and a study file where the page is one of a study. */

import type { ChangeKind, Document } from "./document";
import { inOrder, type Scenario, written } from "./scenario";

export interface Along {
  command: string;
  file: { name: string; text: string } | null;
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The options of the chosen stops. */
export function optionsOf(page: Document, scenario: Scenario): [string, string][] {
  return page.groups.flatMap((group, at) =>
    group.controls.flatMap((control, rank) => {
      const option = control.stops[scenario.stops[at]?.[rank] ?? control.chosen]?.option;
      return option ? [option] : [];
    }),
  );
}

export function takenAlong(page: Document, scenario: Scenario): Along {
  const options = optionsOf(page, scenario);
  const words = options.flat();
  for (const one of inOrder(scenario.happenings)) {
    const flag = (page.changes[one.kind] as ChangeKind).word.split(" ")[0] as string;
    words.push(flag, written(page, one));
  }
  return { command: [...page.command, ...words].map(quoted).join(" "), file: null };
}
