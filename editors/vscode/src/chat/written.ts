/** Returns the reference to a path or a name in a prompt: @path, or @"a path" if other text would become a part of it. */
export function written(name: string): string {
  return /^[^\s"'()[\]<>,;@]*[^\s"'()[\]<>,;@.:!?]$/.test(name) && !/:\d+(-\d+)?$/.test(name)
    ? `@${name}`
    : `@"${name.replaceAll('"', '')}"`;
}
