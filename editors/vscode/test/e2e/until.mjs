/** How long to wait for a condition, in milliseconds. The machine can be busy. */
export const patience = 60_000;

const oftenMs = 50;

/** Calls probe until it returns a truthy value, and returns that. */
export async function until(what, probe, timeout = patience) {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await probe();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`timed out waiting for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, oftenMs));
  }
}
