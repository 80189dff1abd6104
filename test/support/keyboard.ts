/**
 * Uses a page by its keys alone. The focused element is named as screen readers name it: its role and
 * its accessible name, such as "button Save".
 */

import type { Page } from "playwright-core";

/** More elements than a page has in its order of Tab. */
const MOST_TABS = 120;
const LOST = "nothing";
/** The part of a page that scrolls, where the focus begins. */
const CONTENT = "content";

const IS_CONTENT = `document.activeElement?.matches(".page") === true`;

export type Keyboard = Awaited<ReturnType<typeof keyboardOf>>;

export async function keyboardOf(page: Page) {
  const session = await page.context().newCDPSession(page);

  /**
   * The role and the name of the element with the focus; "content" for the content of the page, and
   * "nothing" if the page has lost it.
   */
  async function focused(): Promise<string> {
    if ((await page.evaluate(IS_CONTENT)) === true) return CONTENT;
    const { result } = await session.send("Runtime.evaluate", {
      expression: "document.activeElement === document.body ? null : document.activeElement",
    });
    if (result.objectId === undefined) return LOST;
    const { nodes } = await session.send("Accessibility.getPartialAXTree", {
      objectId: result.objectId,
      fetchRelatives: false,
    });
    const [node] = nodes;
    return `${node?.role?.value ?? ""} ${node?.name?.value ?? ""}`.trim();
  }

  async function press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  /** Presses a key until an element has the focus whose role and name begin with the text. */
  async function pressUntil(key: string, name: string): Promise<void> {
    const passed: string[] = [];
    while (passed.length < MOST_TABS) {
      const current = await focused();
      if (passed.length > 0 && current.startsWith(name)) return;
      passed.push(current);
      // The code editor indents with Tab.
      if (current.endsWith("HTML with Liquid")) await press("Escape");
      await press(key);
    }
    throw new Error(`${key} does not reach "${name}", but:\n${[...new Set(passed)].join("\n")}`);
  }

  /** Chooses the first option of the list of the focused field, which has this name. */
  async function choose(name: string): Promise<void> {
    const option = page.getByRole("option", { name });
    await option.waitFor();
    // The library forgets the marked option some time after the list has opened.
    for (let tries = 0; tries < 3 && (await option.isVisible()); tries++) {
      await press("ArrowDown", "Enter");
    }
    await option.waitFor({ state: "hidden" });
  }

  return {
    focused,
    press,
    choose,
    type: (text: string) => page.keyboard.type(text),
    tabTo: (name: string) => pressUntil("Tab", name),
    tabBackTo: (name: string) => pressUntil("Shift+Tab", name),
  };
}
