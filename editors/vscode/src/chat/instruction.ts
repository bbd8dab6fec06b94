/** What the model is told about a change that the person asked for in the editor. */
export function instruction(name: string, first: number, last: number, wish: string): string {
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return [
    `Change ${lines} of ${name}, which are attached, with the edit tool, in as few calls as possible. The person reviews each`,
    'edit before it is made; one that is refused is not wanted in another form either. Leave all other lines as they are, and',
    'say afterwards in one sentence what was changed. This is wanted:',
    '',
    wish,
  ].join('\n');
}
