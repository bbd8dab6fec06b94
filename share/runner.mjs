// Runs a handler: runner.mjs MODULE PAGE ANSWER [plain] calls the default export of MODULE with
// PAGE and leaves what came of it in the file ANSWER, where nothing that the module prints can
// be taken for it. With plain, a .ts file is read as the JavaScript that it may be.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, page, answer, plain] = process.argv.slice(2);
let step = "load";

function end(value) {
  writeFileSync(answer, JSON.stringify(value), { mode: 0o600 });
  process.exit(0); // what the module left open would keep the process alive
}

function fail(error) {
  let text;
  try {
    text = String((error?.name === "Error" && error.message) || error);
  } catch {
    text = "something without a text was thrown";
  }
  end({ failed: step, error: text });
}

// An error that the module does not wait for.
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

// readPlain makes Node.js load .ts files without knowing what types are.
async function readPlain() {
  const { register } = await import("node:module");
  const load = `(url, context, next) => next(url, url.endsWith(".ts") ? { ...context, format: "module" } : context)`;
  register?.("data:text/javascript," + encodeURIComponent(`export const load = ${load};`));
}

const address = (value) => (value instanceof URL ? value.href : value);

function shape(value) {
  if (!value) return {};
  const whole = address(value);
  if (typeof whole === "string") return { url: whole };
  if (typeof whole !== "object" || Array.isArray(whole)) return { wrong: Array.isArray(whole) ? "a list" : `a ${typeof whole}` };
  const shaped = { url: address(whole.url) ?? "", message: whole.message ?? "" };
  const odd = Object.keys(shaped).find((key) => typeof shaped[key] !== "string");
  return odd ? { wrong: `an object whose ${odd} is not text` } : shaped;
}

try {
  if (plain) await readPlain();
  const loaded = await import(pathToFileURL(module).href);
  let handler = loaded.default;
  // What compilers to CommonJS make of a default export.
  if (typeof handler?.default === "function") handler = handler.default;
  if (typeof handler !== "function") {
    end({ failed: "export" });
  }
  step = "run";
  end(shape(await handler(page)));
} catch (error) {
  const typed = step === "load" && (error instanceof SyntaxError || error?.code === "ERR_UNKNOWN_FILE_EXTENSION");
  if (plain && typed) step = "types";
  fail(error);
}
