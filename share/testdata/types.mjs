// Makes Node.js load .ts files as they are, for modules whose TypeScript is JavaScript.
import { register } from "node:module";

register("./types-load.mjs", import.meta.url);
