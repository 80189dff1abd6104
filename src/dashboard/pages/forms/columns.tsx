/** The columns of the list of forms. */

import type { Form } from "../../../modules/forms/model.ts";
import { columnsOf } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const number = new Intl.NumberFormat();

const figure = (key: keyof Form["counts"], title: string): Column<Form> => ({
  key,
  title,
  width: "112px",
  isFigure: true,
  render: ({ counts }) => number.format(counts[key]),
});

export const FORM_COLUMNS: readonly Column<Form>[] = [
  {
    key: "name",
    title: "Form",
    width: "26%",
    render: ({ name }) => <bdi title={name}>{name}</bdi>,
  },
  {
    key: "title",
    title: "Heading",
    render: ({ title }) => (
      <bdi className="muted" title={title}>
        {title}
      </bdi>
    ),
  },
  { key: "state", title: "State", width: "112px", render: (form) => <FormStatus {...form} /> },
  figure("shown", "Shown"),
  figure("submitted", "Submitted"),
  figure("confirmed", "Confirmed"),
  {
    key: "updated",
    title: "Changed",
    width: "132px",
    isFigure: true,
    render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
  },
];

export function FormStatus({ isEnabled }: Pick<Form, "isEnabled">) {
  return isEnabled ? <Status tone="good">Open</Status> : <Status tone="waiting">Closed</Status>;
}

export const FORM_CSV = columnsOf<Form>([
  "id",
  "name",
  "title",
  "url",
  "confirmation",
  "isEnabled",
  "counts",
  "createdAt",
  "updatedAt",
]);

/** The two lines of a row on phones. */
export const formLines = ({ name, counts, isEnabled }: Form) => ({
  first: (
    <span className="line">
      <bdi className="cut">{name}</bdi>
      <FormStatus isEnabled={isEnabled} />
    </span>
  ),
  second: `${number.format(counts.submitted)} submitted, ${number.format(counts.confirmed)} confirmed`,
});
