/** The location of the page's own files, and the source from which VS Code serves them. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
  readonly source: string;
  readonly nonce: string;
  readonly language: string;
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/**
 * Returns the HTML of the panel. Its policy allows its single script, its own style sheet and font,
 * and embedded images; nothing else can be loaded.
 */
export function pageHtml(files: PageFiles): string {
  const policy = [
    `default-src 'none'`,
    `img-src data:`,
    `font-src ${files.source}`,
    `style-src ${files.source}`,
    `script-src 'nonce-${files.nonce}'`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(files.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${escape(files.style)}">
<title>xcsh</title>
</head>
<body>
<div id="root"></div>
<script nonce="${escape(files.nonce)}" src="${escape(files.script)}"></script>
</body>
</html>
`;
}
