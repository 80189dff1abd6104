/** Fields that several forms of steps share: names of events, segments, time zones. */

import { Autocomplete, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Segment } from "../../../../../modules/segments/model.ts";
import { api, type ListPage } from "../../../../api.ts";
import { isZoneFound, zones } from "../../../campaigns/editor/zone-time.ts";

const MOST = 100;
const SUGGESTED = 30;

/** The name of an event: one of the log, or another one that is typed. */
export function EventName(props: {
  project: string;
  label?: string;
  description?: string;
  value: string;
  error: string | undefined;
  onChange: (name: string) => void;
}) {
  const { project, label = "Event", description, value, error, onChange } = props;
  const { data } = useQuery({
    queryKey: ["event-names", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<string>>("/events/names", { query: { limit: MOST }, signal }),
  });
  return (
    <Autocomplete
      label={label}
      description={description}
      placeholder="signed_up"
      data={data?.items ?? []}
      limit={SUGGESTED}
      spellCheck={false}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}

export function SegmentSelect(props: {
  project: string;
  label: string;
  /** The words for no segment; without them one must be chosen. */
  none?: string;
  value: string | null;
  error: string | undefined;
  onChange: (id: string | null) => void;
}) {
  const { project, label, none, value, error, onChange } = props;
  const { data } = useQuery({
    queryKey: ["segment-choices", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<Segment>>("/segments", { query: { limit: MOST }, signal }),
  });
  const items = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = value === null || items.some((item) => item.value === value);
  return (
    <Select
      label={label}
      placeholder={none ?? "Choose a segment"}
      searchable
      allowDeselect={false}
      nothingFoundMessage="No segment has this name"
      data={[
        ...(none === undefined ? [] : [{ value: "", label: none }]),
        ...items,
        ...(isKnown ? [] : [{ value, label: data === undefined ? "…" : "A deleted segment" }]),
      ]}
      value={value ?? (none === undefined ? null : "")}
      error={error}
      onChange={(id) => onChange(id === "" ? null : id)}
    />
  );
}

export function ZoneSelect(props: {
  label: string;
  description?: string;
  /** Choices before the zones. */
  others?: { value: string; label: string }[];
  value: string;
  error: string | undefined;
  onChange: (zone: string) => void;
}) {
  const { label, description, others = [], value, error, onChange } = props;
  const names = useMemo(zones, []);
  const data = [...others, ...names.map((zone) => ({ value: zone, label: zone }))];
  return (
    <Select
      label={label}
      description={description}
      searchable
      allowDeselect={false}
      filter={({ options, search }) =>
        options.filter((option) => "label" in option && isZoneFound(option.label, search))
      }
      data={data}
      value={value === "" ? null : value}
      error={error}
      onChange={(zone) => zone !== null && onChange(zone)}
    />
  );
}
