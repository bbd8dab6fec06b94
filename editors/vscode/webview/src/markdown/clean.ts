// The second line behind a Markdown parser that lets no HTML through: whatever is put into the page
// as HTML is made of these elements only.

import DOMPurify from 'dompurify';
import { targetOf } from './links';

const options = {
  ALLOWED_TAGS: [
    'a',
    'blockquote',
    'br',
    'code',
    'del',
    'div',
    'em',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'hr',
    'li',
    'ol',
    'p',
    'pre',
    's',
    'span',
    'strong',
    'table',
    'tbody',
    'td',
    'th',
    'thead',
    'tr',
    'ul',
  ],
  ALLOWED_ATTR: ['class', 'href', 'start', 'title'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^[^]*$/, // the hook below is stricter
};

DOMPurify.addHook('uponSanitizeAttribute', (_node, data) => {
  if (data.attrName === 'href') data.keepAttr = targetOf(data.attrValue) !== undefined;
  if (data.attrName === 'class')
    data.keepAttr = /^(?:table|column-(?:center|right)|(?:hljs|language)[\w -]*)$/.test(data.attrValue);
});

/** HTML that cannot do anything but be read. */
export const clean = (html: string): string => DOMPurify.sanitize(html, options);
