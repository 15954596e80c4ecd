/** What gives the same answer elsewhere: a command, and a study file where the page is one of a study. */

import type { Block, ChangeKind, Document, Edit, StudyText } from "./document";
import { inOrder } from "./happening";
import { entriesOf, planOf, type Scenario, type Words, written } from "./scenario";

export interface Along {
  command: string;
  file: { name: string; text: string } | null;
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The options of the chosen stops; what two of them say is said once. */
export function optionsOf(page: Document, scenario: Scenario): [string, string][] {
  const stated = page.groups.flatMap((group, at) =>
    group.controls.flatMap((control, rank) => control.stops[scenario.stops[at]?.[rank] ?? control.chosen]?.options ?? []),
  );
  return stated.filter(([flag, value], at) => stated.findIndex((one) => one[0] === flag && one[1] === value) === at);
}

/** What gives the same answer elsewhere; `side` is what the scenario is called where there are two. */
export function takenAlong(page: Document, scenario: Scenario, side = ""): Along {
  if (page.study !== null) {
    const name = `${(page.source.split("/").at(-1) ?? "study").replace(/\.toml$/, "")}-explored${side && `-${side.toLowerCase()}`}.toml`;
    const command = [...page.command, name].map(quoted).join(" ");
    return { command, file: { name, text: studyOf(page, page.study, scenario) } };
  }
  const words = optionsOf(page, scenario).flat();
  const beside = new Set<string>();
  for (const one of inOrder(scenario.happenings)) {
    const kind = page.changes[one.kind] as ChangeKind;
    words.push(kind.word, written(page, one));
    if (kind.beside) beside.add(kind.beside);
  }
  return { command: [...page.command, ...words, ...beside].map(quoted).join(" "), file: null };
}

/** The study file of a scenario, whose run has the same input. */
function studyOf(page: Document, study: StudyText, scenario: Scenario): string {
  const edits = page.groups.flatMap((group, at) =>
    group.controls.flatMap((control, rank) => study.stops[control.key]?.[scenario.stops[at]?.[rank] ?? control.chosen] ?? []),
  );
  let blocks = edited(study.blocks, edits);
  const plan = planOf(page, scenario);
  const [endKey, endText] = study.ending?.line ?? ["", ""];
  for (const [index, end] of plan?.ownEnds ?? []) {
    const home = blocks.find((block) => block.name === `faults.${index}`);
    if (home !== undefined) home.keys.push([endKey, worded(["", endText], { $at: end })[1]]);
  }
  blocks = blocks.filter((block) => ![...(plan?.dropped ?? [])].some((index) => block.name === `faults.${index}`));
  for (const { kind, words, end } of entriesOf(page, scenario.happenings, plan)) {
    const keys = (study.lines[kind.key] ?? []).map((line) => worded(line, words));
    if (end !== null && study.ending !== null) keys.push(worded(study.ending.line, end));
    blocks.push({ name: "", header: study.header, keys });
  }
  return `${blocks.map((block) => [block.header, ...block.keys.map(([key, text]) => `${key} = ${text}`)].join("\n")).join("\n\n")}\n`;
}

const isBelow = (name: string, key: string) => name === key || name.startsWith(`${key}.`);

function edited(blocks: Block[], edits: Edit[]): Block[] {
  let found = blocks.map((block) => ({ ...block, keys: [...block.keys] }));
  for (const edit of edits) {
    for (const key of edit.clear) {
      found = found.filter((block) => !isBelow(block.name, key));
      for (const block of found) block.keys = block.keys.filter(([own]) => !isBelow(`${block.name}.${own}`, key));
    }
    for (const [name, header, key, text] of edit.put) {
      let home = found.find((block) => block.name === name);
      if (home === undefined) {
        home = { name, header, keys: [] };
        found.push(home);
      }
      if (key) home.keys.push([key, text]);
    }
  }
  return found;
}

/** A line of a study file: a name as TOML writes text, all else as it is. */
function worded([key, text]: [string, string], words: Words): [string, string] {
  const at = Number(words.$at);
  const made = text.replaceAll("$at", Number.isInteger(at) ? at.toFixed(1) : String(at)).replaceAll("$share", String(words.$share));
  // TOML has what JSON has but for this sign, which JSON leaves as it is.
  const name = JSON.stringify(words.$name ?? "").replaceAll("\u007f", "\\u007f");
  return [key.replaceAll("$kind", String(words.$kind)), made.replaceAll("$name", () => name)];
}
