/** What the server can ask about code. The methods begin with xcsh/editor/. */
export const senseRequests = [
  'diagnostics',
  'definition',
  'typeDefinition',
  'implementation',
  'references',
  'hover',
  'symbols',
  'rename',
  'codeActions',
  'editors',
  'selection',
] as const;
export type SenseRequest = (typeof senseRequests)[number];
