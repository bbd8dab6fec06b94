/** Returns the instruction that goes with a request for a change of lines, which are counted from 1. */
export function instruction(name: string, first: number, last: number): string {
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return [
    `The request is about ${lines} of ${name}, which are attached. Change them with the edit tool, in as few calls as possible.`,
    'The user reviews each edit before it is made. Do not propose a rejected edit again in another form. Leave all other',
    'lines unchanged, and afterwards describe the change in one sentence.',
  ].join('\n');
}
