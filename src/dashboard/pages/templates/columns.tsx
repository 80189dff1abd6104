/** The columns of the list of templates. */

import type { Template } from "../../../modules/templates.ts";
import { columnsOf } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";

export const TEMPLATE_COLUMNS: readonly Column<Template>[] = [
  {
    key: "name",
    title: "Template",
    width: "30%",
    render: ({ name }) => <bdi title={name}>{name}</bdi>,
  },
  {
    key: "subject",
    title: "Subject",
    render: ({ subject }) => (
      <bdi className="muted" title={subject}>
        {subject}
      </bdi>
    ),
  },
  { key: "type", title: "Kind of mail", width: "150px", render: ({ type }) => KINDS[type] },
  {
    key: "updated",
    title: "Changed",
    width: "132px",
    isFigure: true,
    render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
  },
];

export const TEMPLATE_CSV = columnsOf<Template>([
  "id",
  "name",
  "description",
  "type",
  "subject",
  "from",
  "fromName",
  "replyTo",
  "createdAt",
  "updatedAt",
]);

/** The two lines of a row on phones. */
export const templateLines = ({ name, subject, updatedAt }: Template) => ({
  first: (
    <span className="line">
      <bdi className="cut">{name}</bdi>
      <span className="muted small">
        <Time at={updatedAt} isPlain />
      </span>
    </span>
  ),
  second: <bdi>{subject}</bdi>,
});

export const KINDS: Readonly<Record<Template["type"], string>> = {
  TRANSACTIONAL: "Transactional",
  MARKETING: "Marketing",
};
