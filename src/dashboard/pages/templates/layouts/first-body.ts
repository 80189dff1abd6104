import { FONT, htmlPage } from "../html-page.ts";

/** The body of a new layout: it works as it is, and shows where the content of a template goes. */
export const FIRST_BODY = htmlPage(
  `${FONT}; font-size: 16px; line-height: 1.6`,
  `            <tr>
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
            </tr>`,
);
