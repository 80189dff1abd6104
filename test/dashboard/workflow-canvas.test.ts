/** The canvas of a workflow: it is moved and zoomed by mouse, by touch and by keyboard. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";

let server: PeopledProject;
let id: string;

/** A chain that is too long to be readable as a whole, with a loop back to its beginning. */
const STEPS = 12;
beforePages(async () => {
  server = await newProjectWithPeople();
  const names = Array.from({ length: STEPS }, (_, i) => `wait-${i}`);
  const config = { amount: 1, unit: "days" };
  const order = { eventName: "ordered", timeout: 60 };
  const created = await server.call("POST", "/workflows", {
    name: "Long",
    trigger: { type: "MANUAL" },
    steps: [
      ...names.map((name) => ({ id: name, type: "DELAY", name, config })),
      { id: "order", type: "WAIT_FOR_EVENT", name: "order", config: order },
    ],
    transitions: [
      ...names.map((to, i) => ({ from: names[i - 1] ?? "trigger", to })),
      { from: `wait-${STEPS - 1}`, to: "order" },
      { from: "order", to: "wait-0", branch: "timeout" },
    ],
  });
  id = stringAt(created, "data.id");
});

type View = { x: number; y: number; zoom: number };

/** The library writes it as "translate(388px, 0px) scale(1)". */
async function viewOf(page: Page): Promise<View> {
  const style = await page.locator(".react-flow__viewport").getAttribute("style");
  const [x = 0, y = 0, zoom = 0] = (style?.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  return { x: Math.round(x), y: Math.round(y), zoom: Math.round(zoom * 100) / 100 };
}

async function areaOf(page: Page) {
  await page.locator(".step-box").first().waitFor();
  const area = await page.locator(".react-flow__pane").boundingBox();
  if (area === null) throw new Error("the canvas is not shown");
  return area;
}

/** Moves fingers from each first point by each distance. */
async function swipe(page: Page, fingers: readonly (readonly [number, number, number, number])[]) {
  const client = await page.context().newCDPSession(page);
  for (let i = 0; i <= 5; i++) {
    await client.send("Input.dispatchTouchEvent", {
      type: i === 0 ? "touchStart" : "touchMove",
      touchPoints: fingers.map(([x, y, dx, dy], finger) => ({
        id: finger,
        x: x + (dx * i) / 5,
        y: y + (dy * i) / 5,
      })),
    });
  }
  await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

async function focusedName(page: Page): Promise<string | null> {
  const focused = page.locator(":focus");
  return (await focused.getAttribute("aria-label")) ?? (await focused.getAttribute("data-step"));
}

describe("the canvas of a workflow", () => {
  pageTest("is moved and zoomed by mouse; steps stay where they are", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}`, {
      person: "editor",
    });
    const { x, y } = await areaOf(page);
    const opened = await viewOf(page);
    expect([opened.y, opened.zoom]).toEqual([0, 1]);
    await page.mouse.move(x + 40, y + 60);
    await page.mouse.wheel(30, 100);
    await expectSoon(() => viewOf(page), { x: opened.x - 30, y: -100, zoom: 1 });
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await expectSoon(async () => (await viewOf(page)).zoom, 1.15);

    // A drag that begins on a step moves all, and opens none.
    const before = await viewOf(page);
    const step = await page.locator('[data-step="wait-1"]').boundingBox();
    await page.mouse.move((step?.x ?? 0) + 30, (step?.y ?? 0) + 20);
    await page.mouse.down();
    await page.mouse.move((step?.x ?? 0) + 80, (step?.y ?? 0) + 60, { steps: 3 });
    await page.mouse.up();
    await expectSoon(() => viewOf(page), { ...before, x: before.x + 50, y: before.y + 40 });
    expect(await page.getByRole("dialog").count()).toBe(0);

    await page.getByRole("button", { name: "Show the whole graph" }).click();
    await expectSoon(async () => (await viewOf(page)).zoom < 0.5, true);
    const whole = await viewOf(page);
    const last = await page.locator('[data-step="order"]').boundingBox();
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThan(800);
    await page.getByRole("button", { name: "Larger" }).click();
    await expectSoon(async () => (await viewOf(page)).zoom > whole.zoom, true);
    await page.getByRole("button", { name: "Smaller" }).click();
    await expectSoon(async () => (await viewOf(page)).zoom, whole.zoom);

    // A press on the canvas closes a menu, as one elsewhere does.
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menu").waitFor();
    await page.mouse.click(x + 40, y + 60);
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("is walked by keyboard in the order of its steps, and shows the focus", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}`, {
      person: "editor",
    });
    const area = await areaOf(page);
    await page.getByRole("region", { name: "Graph of the workflow" }).focus();
    const opened = await viewOf(page);
    await page.keyboard.press("ArrowDown");
    await expectSoon(() => viewOf(page), { ...opened, y: opened.y - 60 });
    const names: unknown[] = [];
    for (let i = 0; i < 2 * (STEPS + 2); i++) {
      await page.keyboard.press("Tab");
      names.push(await focusedName(page));
    }
    const steps = ["trigger", ...Array.from({ length: STEPS }, (_, i) => `wait-${i}`)];
    const labels = ["Trigger", ...steps.slice(1)].map((name) => `Add a step after ${name}`);
    expect(names).toEqual([
      ...steps.flatMap((step, i) => [step, labels[i]]),
      "order",
      "Add a step after order, at “In time”",
    ]);
    await expectSoon(async () => {
      const focused = await page.locator(":focus").boundingBox();
      return (focused?.y ?? 0) >= area.y && (focused?.y ?? 0) + 24 <= area.y + area.height;
    }, true);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add a step after order, at “In time”" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("leaves the wheel and one finger to a page that scrolls", async () => {
    const { page, problems, close } = await openAs(server, `/workflows/${id}?tab=simulate`, {
      person: "editor",
    });
    const client = await page.context().newCDPSession(page);
    await client.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
    await page.reload();
    await areaOf(page);
    const opened = await viewOf(page);
    const scroller = page.locator(".page");
    const scrolled = () => scroller.evaluate((element) => element.scrollTop);
    await page.locator(".react-flow__pane").hover();
    await page.mouse.wheel(0, 60);
    await expectSoon(async () => (await scrolled()) > 0, true);
    expect(await viewOf(page)).toEqual(opened);
    const before = await scrolled();
    const { x, y } = await areaOf(page);
    await swipe(page, [[x + 60, y + 100, 0, before]]);
    await expectSoon(async () => (await scrolled()) < before, true);
    expect(await viewOf(page)).toEqual(opened);
    const area = await areaOf(page);
    await swipe(page, [
      [area.x + 120, area.y + 100, -50, 0],
      [area.x + 180, area.y + 100, 50, 0],
    ]);
    await expectSoon(async () => (await viewOf(page)).zoom > opened.zoom, true);
    expect(problems).toEqual([]);
    await close();
  });
});
