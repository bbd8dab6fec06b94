// Loads the script that typesets formulas, with the first formula, and gives it work in short slices, so that many formulas
// do not block the page.

/** Returns the element of a formula; undefined if it cannot be typeset. */
export type Typeset = (tex: string, display: boolean) => Element | undefined;

// Known only while the page's script runs for the first time.
const own = typeof document === 'undefined' ? null : (document.currentScript as HTMLScriptElement | null);
const nonce = own?.nonce ?? '';
const source = own?.src ?? '';

/** The longest time without a pause, in milliseconds. A single formula can take longer. */
const sliceMs = 12;

let loaded: Promise<unknown> | undefined;
let failed = false;
let typeset: Typeset | undefined;
const queue: (() => void)[] = [];
let sliceEnds = 0; // 0 between the slices

function added(element: HTMLScriptElement | HTMLLinkElement): Promise<unknown> {
  return new Promise((resolve, reject) => {
    element.addEventListener('load', resolve);
    element.addEventListener('error', reject);
    document.head.append(element);
  });
}

function load(): Promise<unknown> {
  const style = document.createElement('link');
  Object.assign(style, { rel: 'stylesheet', href: new URL('math.css', source).href });
  const script = document.createElement('script');
  Object.assign(script, { nonce, src: new URL('math.js', source).href });
  return Promise.all([added(style), added(script)]).then(() => {
    typeset = (globalThis as { xcshTypeset?: Typeset }).xcshTypeset;
    work();
  });
}

function inSlice(): boolean {
  if (sliceEnds === 0) {
    sliceEnds = performance.now() + sliceMs;
    setTimeout(() => {
      sliceEnds = 0;
      work();
    });
  }
  return performance.now() < sliceEnds;
}

function work(): void {
  while (typeset && queue.length > 0 && inSlice()) queue.shift()!();
}

/** Typesets a formula soon, and calls done with its element unless it was cancelled. Returns the function that cancels. */
export function typesetSoon(tex: string, display: boolean, done: (el: Element | undefined) => void): () => void {
  let wanted = source !== '' && !failed;
  if (wanted) {
    queue.push(() => wanted && typeset && done(typeset(tex, display)));
    loaded ??= load().catch(() => {
      failed = true; // the sources stay in view
      queue.length = 0;
    });
    work();
  }
  return () => {
    wanted = false;
  };
}
