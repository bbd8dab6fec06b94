/** Returns the reference to a path or a name in a prompt: @path, or @"a path" if the text around it would be part of it. */
export function written(name: string): string {
  return /^[^\s"'()[\]<>,;@]*[^\s"'()[\]<>,;@.:!?]$/.test(name) && !/:\d+(-\d+)?$/.test(name)
    ? `@${name}`
    : `@"${name.replaceAll('"', '')}"`;
}
