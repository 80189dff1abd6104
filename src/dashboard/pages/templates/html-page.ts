/** The frame of an HTML mail that the large mail programs show alike. */

export const FONT = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/**
 * One column of at most 600 pixels, as a table, because some programs know no other widths. `style`
 * is that of the column, and `rows` are its rows, indented by 12 blanks.
 */
export const htmlPage = (style: string, rows: string): string => `<!doctype html>
<html lang="{{ project.language }}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <title>{{ project.name }}</title>
  </head>
  <body style="margin: 0; padding: 0; background: #f4f5f7">
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
      <tr>
        <td align="center" style="padding: 32px 16px">
          <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 600px; ${style}">
${rows}
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`;
