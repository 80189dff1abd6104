/** The body of a new layout: it works as it is, and shows where the content of a template goes. */
export const FIRST_BODY = `<!doctype html>
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
          <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 600px; font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; font-size: 16px; line-height: 1.6">
            <tr>
              <td style="padding: 0 0 16px; color: #586170; font-weight: 600">{{ project.name }}</td>
            </tr>
            <tr>
              <td style="padding: 32px; background: #ffffff; color: #16191f; border-radius: 10px">
                {{ content }}
              </td>
            </tr>
            <tr>
              <td style="padding: 16px 0 0; color: #586170; font-size: 13px">
                {{ project.name }}, your street and town
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`;
