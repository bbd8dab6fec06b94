/** How long anything may take to be seen, in milliseconds. The machine may be busy. */
export const patience = 30_000;

const oftenMs = 50;

/** Calls probe until it gives something true, and gives that. */
export async function until(what, probe, timeout = patience) {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await probe();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, oftenMs));
  }
}
