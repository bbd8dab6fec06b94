/** Where the server stands. */
export type ServerStatus =
  /** Not needed yet, or stopped by the person. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly version: string }
  /** There is no program to run. */
  | { readonly kind: 'missing'; readonly message: string }
  /** It ended too often, or it is of a version that this extension cannot talk to. */
  | { readonly kind: 'failed'; readonly message: string };
