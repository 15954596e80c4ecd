// What the page that computes makes of scenarios, by its own code, without a page.
import { readFileSync } from "node:fs";
import { takenAlong } from "../../web/src/along.ts";
import { read } from "../../web/src/document.ts";
import { inputOf } from "../../web/src/scenario.ts";

const asked = JSON.parse(readFileSync(0, "utf8"));
const page = read(JSON.stringify(asked.document));

/** The page's own form of a scenario that names controls and changes by their keys. */
function own({ stops, changes }) {
  return {
    stops: page.groups.map((group) => group.controls.map((control) => stops[control.key] ?? control.chosen)),
    happenings: changes.map(({ key, part, at, share }) => ({
      kind: page.changes.findIndex((kind) => kind.key === key),
      part,
      seconds: at,
      share: share ?? 1,
    })),
  };
}

const made = asked.scenarios.map((scenario) => {
  const { command, file } = takenAlong(page, own(scenario));
  return { input: inputOf(page, own(scenario)), command, text: file?.text ?? "" };
});
process.stdout.write(JSON.stringify(made));
