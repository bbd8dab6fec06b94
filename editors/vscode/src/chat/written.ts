/** Returns the reference to a path or a name in a prompt: @path, or @"a path" if it could not be told from the text. */
export function written(name: string): string {
  return /^[^\s"'()[\]<>,;@]*[^\s"'()[\]<>,;@.:!?]$/.test(name) && !/:\d+(-\d+)?$/.test(name)
    ? `@${name}`
    : `@"${name.replaceAll('"', '')}"`;
}
