export const load = (url, context, next) => next(url, url.endsWith(".ts") ? { ...context, format: "module" } : context);
