/** The messages at the lower edge of the window, such as "2 contacts added." */

import type { Page } from "playwright-core";

/** Waits for a message and closes it. For some seconds it would cover what is below it. */
export async function closeMessage(page: Page, text: string | RegExp): Promise<void> {
  const message = page.getByRole("alert").filter({ hasText: text });
  await message.getByRole("button", { name: "Close" }).click();
  await message.waitFor({ state: "detached" });
}
