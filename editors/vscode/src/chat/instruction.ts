/** Returns the instruction for a change that the user requested in the editor. */
export function instruction(name: string, first: number, last: number, wish: string): string {
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return [
    `Change ${lines} of ${name}, which are attached, with the edit tool, in as few calls as possible. The user reviews each`,
    'edit before it is made. Do not propose a rejected edit again in another form. Leave all other lines unchanged, and',
    'afterwards describe the change in one sentence. The request:',
    '',
    wish,
  ].join('\n');
}
