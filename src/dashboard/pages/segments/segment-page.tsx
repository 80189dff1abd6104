/** One segment: whom it selects, in words, where it is used, and its members. */

import { Button, Skeleton } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Megaphone, Pencil } from "lucide-react";
import type { Segment } from "../../../modules/segments/model.ts";
import { lazyPart } from "../../lazy.tsx";
import { useMay } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { DeleteButton } from "../../ui/delete-button.tsx";
import { useDeletion } from "../../ui/deletion.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Uses } from "../../ui/uses.tsx";
import { Time } from "../../ui/time.tsx";
import { useCreateCampaign } from "../campaigns/editor/create-campaign.tsx";
import { membersText, typeWord } from "./columns.tsx";
import { wordsOfCondition } from "./condition-words.ts";
import { ConditionView } from "./condition-view.tsx";
import { SegmentMembers } from "./members.tsx";
import { useSegment, useReferredNames, useSegmentUsage } from "./use-segments.ts";

/** It is loaded when it is opened. */
const BacktestPart = lazyPart(
  async () => (await import("./backtest.tsx")).SegmentBacktestView,
  <Skeleton height={320} aria-busy="true" />,
);

const route = getRouteApi("/user/p/$project/segments/$segment");

export function SegmentPage() {
  const { project, segment: id } = route.useParams();
  const { tab = "about" } = route.useSearch();
  const query = useSegment(id);
  const { data } = query;
  const mayEdit = useMay("EDITOR");
  const isMembers = tab === "members";
  const isBacktest = tab === "backtest" && data?.type === "DYNAMIC";
  const current = isMembers ? "members" : isBacktest ? "backtest" : "about";
  return (
    <Page
      title={data?.name ?? "Segment"}
      isFixed={isMembers}
      back={
        <Link to="/p/$project/segments" params={{ project }} className="page-back">
          <BackLabel>Segments</BackLabel>
        </Link>
      }
      actions={
        data && (
          <>
            {mayEdit && <SendCampaign segment={data} project={project} />}
            {mayEdit && (
              <Button
                component={Link}
                to={`/p/${project}/segments/${id}/edit`}
                variant="default"
                leftSection={<Pencil size={15} aria-hidden />}
              >
                Edit
              </Button>
            )}
            <DeleteSegment segment={data} project={project} />
          </>
        )
      }
      tabs={
        data && (
          <PageTabs label="Parts of the segment">
            <TabLink tab="about" current={current}>
              About
            </TabLink>
            <TabLink tab="members" current={current}>
              {membersText(data.memberCount)}
            </TabLink>
            {data.type === "DYNAMIC" && (
              <TabLink tab="backtest" current={current}>
                Backtest
              </TabLink>
            )}
          </PageTabs>
        )
      }
    >
      <Loaded query={query}>
        {(segment) => {
          if (isMembers) return <SegmentMembers key={id} segment={segment} project={project} />;
          if (!isBacktest) return <About segment={segment} />;
          const { condition } = segment;
          return (
            <BacktestPart
              project={project}
              segmentId={id}
              condition={condition}
              isChanged={false}
            />
          );
        }}
      </Loaded>
    </Page>
  );
}

function About({ segment }: { segment: Segment }) {
  const { id, type, slug, description, memberCount, memberCountedAt, trackMembership } = segment;
  return (
    <div className="segment-grid">
      <section className="card" aria-labelledby="segment-members">
        <h2 id="segment-members">Who is in it</h2>
        <Definition segment={segment} />
      </section>
      <div className="segment-side">
        <Usage id={id} />
        <section className="card" aria-labelledby="segment-facts">
          <h2 id="segment-facts">Facts</h2>
          <Fields>
            {description !== null && (
              <Field label="Note">
                <bdi>{description}</bdi>
              </Field>
            )}
            <Field label="Members">
              {membersText(memberCount)}, counted <Time at={memberCountedAt} />
            </Field>
            <Field label="Members by">{typeWord(type)}</Field>
            <Field label="Events">
              {trackMembership ? (
                <>
                  Entering and leaving are the events <code>segment.{slug}.entry</code> and{" "}
                  <code>segment.{slug}.exit</code>
                </>
              ) : (
                "Entering and leaving are not recorded"
              )}
            </Field>
            <Field label="Created">
              <Time at={segment.createdAt} />
            </Field>
            <Field label="Changed">
              <Time at={segment.updatedAt} />
            </Field>
            <Field label="Id">
              <CopyText value={id} label="Copy the id" />
            </Field>
          </Fields>
        </section>
      </div>
    </div>
  );
}

function Definition({ segment: { condition, mismatches, problems } }: { segment: Segment }) {
  const needsNames = /"(?:segment|campaign|template)\./.test(JSON.stringify(condition));
  const names = useReferredNames(needsNames);
  if (condition === null) {
    return <p>A list: its contacts are added and removed one by one, or by your programs.</p>;
  }
  return (
    <>
      <p>
        The members are the contacts that meet this condition now. They change as contacts change.
      </p>
      <ConditionView words={wordsOfCondition(condition, (name) => names.get(name))} />
      {problems.map(({ field, value, message }) => (
        <p key={`${field} ${value}`}>
          The comparison of <code>{field}</code> with <code>{value}</code> cannot be made, so it
          matches no contact: the value {message}.
        </p>
      ))}
      {mismatches.map(({ field, expected, contacts }) => (
        <p key={`${field} ${expected}`}>
          {contacts === 1 ? "1 contact has" : `${contacts.toLocaleString("en-US")} contacts have`} a
          value in <code>{field}</code> that is no {expected}, so the condition never matches it.
        </p>
      ))}
    </>
  );
}

function Usage({ id }: { id: string }) {
  const usage = useSegmentUsage(id);
  return (
    <section className="card" aria-labelledby="segment-usage">
      <h2 id="segment-usage">Where it is used</h2>
      <Loaded query={usage} height={60}>
        {({ users }) =>
          users.length === 0 ? (
            <p className="muted">No workflow, no other segment and no unsent campaign uses it.</p>
          ) : (
            <Uses users={users} />
          )
        }
      </Loaded>
    </section>
  );
}

/** Opens a draft with the segment as its audience. */
function SendCampaign({ segment, project }: { segment: Segment; project: string }) {
  const { isBusy, create } = useCreateCampaign(project, segment);
  return (
    <Button
      variant="default"
      leftSection={<Megaphone size={15} aria-hidden />}
      loading={isBusy}
      onClick={create}
    >
      Send a campaign to these
    </Button>
  );
}

function DeleteSegment({ segment, project }: { segment: Segment; project: string }) {
  const navigate = route.useNavigate();
  const remove = useDeletion({
    path: `/segments/${segment.id}`,
    queryKey: ["segments", project, segment.id],
    listKey: ["segments"],
    leave: () => navigate({ to: "/p/$project/segments", params: { project } }),
  });
  return (
    <DeleteButton noun="segment" onDelete={remove}>
      <p>
        <strong className="contact-address">{segment.name}</strong> is removed. Its contacts stay.
        This cannot be undone.
      </p>
    </DeleteButton>
  );
}
