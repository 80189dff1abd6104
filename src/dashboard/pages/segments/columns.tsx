/** The columns of the list of segments. */

import type { Segment } from "../../../modules/segments/model.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";

const number = new Intl.NumberFormat();

export const SEGMENT_CSV: readonly CsvColumn<Segment>[] = columnsOf<Segment>([
  "id",
  "name",
  "slug",
  "description",
  "type",
  "memberCount",
  "memberCountedAt",
  "trackMembership",
  "condition",
  "createdAt",
  "updatedAt",
]);

export const SEGMENT_COLUMNS: readonly Column<Segment>[] = [
  {
    key: "name",
    title: "Name",
    width: "30%",
    render: ({ name }) => <bdi title={name}>{name}</bdi>,
  },
  {
    key: "description",
    title: "Note",
    render: ({ description }) => (
      <bdi className="muted" title={description ?? undefined}>
        {description ?? "–"}
      </bdi>
    ),
  },
  { key: "type", title: "Members by", width: "124px", render: ({ type }) => typeWord(type) },
  {
    key: "members",
    title: "Members",
    width: "128px",
    isFigure: true,
    render: ({ memberCount }) => number.format(memberCount),
  },
  {
    key: "counted",
    title: "Counted",
    width: "128px",
    isFigure: true,
    render: ({ memberCountedAt }) => <Time at={memberCountedAt} isPlain />,
  },
  {
    key: "changed",
    title: "Changed",
    width: "148px",
    isFigure: true,
    render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const segmentLines = ({ name, type, memberCount }: Segment) => ({
  first: <bdi>{name}</bdi>,
  second: (
    <span className="line">
      <span>{typeWord(type)}</span>
      <span className="figures">{membersText(memberCount)}</span>
    </span>
  ),
});

export const typeWord = (type: Segment["type"]): string =>
  type === "DYNAMIC" ? "Condition" : "List";

export const membersText = (count: number): string =>
  `${number.format(count)} ${count === 1 ? "member" : "members"}`;
