import type { Locator, Page } from 'playwright-core';

const tabsMax = 120;

/** Goes to a control by the Tab key alone, as far as that takes. */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  for (let tab = 0; tab < tabsMax; tab++) {
    if ((await control.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(control)} was not reached by ${tabsMax} presses of Tab`);
}

/** Writes into a field that is gone to by Tab, over what it has. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

/** Presses a button that is gone to by Tab. */
export async function press(page: Page, button: Locator): Promise<void> {
  await tabTo(page, button);
  await page.keyboard.press('Enter');
}
