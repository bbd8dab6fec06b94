/** The status of the server. */
export type ServerStatus =
  /** Not needed yet, or stopped by the user. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly version: string }
  /** The program was not found. */
  | { readonly kind: 'missing'; readonly message: string }
  /** It exited too often, or its version is incompatible with this extension. */
  | { readonly kind: 'failed'; readonly message: string };
