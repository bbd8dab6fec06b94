/** A request of the server to show a document. */
interface Shown {
  readonly uri: string;
  readonly external?: boolean;
}

/**
 * Reports whether this window can show a document. A file on a remote machine, or behind a window in a browser,
 * cannot be opened outside the editor: the user's browser does not reach it.
 */
export function canShow({ uri, external }: Shown, remoteName: string | undefined, inBrowser: boolean): boolean {
  return external !== true || !/^file:/i.test(uri) || (remoteName === undefined && !inBrowser);
}

/** Reports whether a document is the transcript of a session, which the server makes. */
export function isTranscript({ uri }: Shown): boolean {
  return /^xcsh:.*\.md$/i.test(uri);
}

/** The scheme of the documents of followed sessions of the team's store. */
export const followScheme = 'xcsh-team';

/** Reports whether a document is a followed session of the team's store, which the chat shows. */
export function isFollowed({ uri }: Shown): boolean {
  return uri.startsWith(`${followScheme}:`);
}
