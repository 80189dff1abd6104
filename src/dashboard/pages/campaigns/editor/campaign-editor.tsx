/**
 * A draft: six sections on one page, in any order, which save themselves. Each names its missing
 * values. The review sends the campaign.
 */

import "./styles.ts";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { useEffect, useMemo } from "react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { ConflictDialog } from "../../../ui/editors/conflict-dialog.tsx";
import { Notices } from "../../../ui/editors/notices.tsx";
import { SaveState } from "../../../ui/editors/save-state.tsx";
import { TitleField } from "../../../ui/editors/title-field.tsx";
import { useAutosave } from "../../../ui/editors/use-autosave.ts";
import { useComparison } from "../../../ui/editors/use-comparison.ts";
import { BackLabel, Page } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { useNow } from "../../../ui/time.tsx";
import { useDraftPreview } from "../../templates/editor/use-draft-preview.ts";
import { abState, withoutHeldOut } from "../ab/ab-plan.ts";
import { AbSection } from "../ab/ab-section.tsx";
import { type CampaignSearch, readCampaignSearch } from "../search.ts";
import { AudienceDrawer } from "./audience-drawer.tsx";
import { AudienceSection } from "./audience-section.tsx";
import { CampaignMenu } from "./campaign-menu.tsx";
import {
  campaignRequests,
  CAMPAIGN_GROUPS,
  CAMPAIGN_LABELS,
  readSource,
} from "./campaign-source.ts";
import { ChecksSection, useDraftChecks } from "./checks-section.tsx";
import { ContentSection } from "./content-section.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { Outline } from "./section.tsx";
import { isUndone, setUndone } from "./undone.ts";
import {
  audienceState,
  checksState,
  contentState,
  senderState,
  writtenFaults,
} from "./sections.ts";
import { showsAnything } from "./shows-anything.ts";
import { SenderSection } from "./sender-section.tsx";
import { CampaignTest } from "./campaign-test.tsx";
import { useAudienceChoice, useAudienceCount } from "./use-audience.ts";
import { useSenders } from "./use-senders.ts";
import { useWhen } from "./use-when.ts";
import { whenState } from "./when.ts";
import { WhenSection } from "./when-section.tsx";

const route = getRouteApi("/user/p/$project/campaigns/$campaign");

export function CampaignEditor({ campaign, project }: { campaign: Campaign; project: string }) {
  const { id } = campaign;
  const draft = useDraft(campaign, project);
  const { editor, states, choice, count, senders, preview, checks, when, search, show } = draft;
  const { value, change } = editor;
  const [isReviewing, review] = useDisclosure(false);
  const { isComparing, compare, stopComparing } = useComparison(editor);
  useEffect(() => setUndone(null), []);
  const isReady = [states.audience, states.sender, states.content].every(
    ({ status }) => status === "DONE",
  );
  return (
    <Page
      title={value.name === "" ? "Campaign" : value.name}
      titleField={
        <TitleField noun="campaign" value={value.name} onChange={(name) => change({ name })} />
      }
      badge={<Status value="DRAFT" />}
      back={
        <Link to="/p/$project/campaigns" params={{ project }} className="page-back">
          <BackLabel>Campaigns</BackLabel>
        </Link>
      }
      actions={
        <>
          <SaveState editor={editor} labels={CAMPAIGN_LABELS} onCompare={compare} />
          <CampaignTest id={id} editor={editor} contactId={search.as} />
          <CampaignMenu campaign={campaign} project={project} beforeCopy={editor.saveNow} />
          <Button
            leftSection={<Rocket size={15} aria-hidden />}
            autoFocus={isUndone(id)}
            onClick={review.open}
          >
            Review and send
          </Button>
        </>
      }
    >
      <Notices editor={editor} labels={CAMPAIGN_LABELS} />
      <div className="composer">
        <Outline states={states} />
        <div className="composer-sections">
          <AudienceSection {...{ project, editor, choice, count }} state={states.audience} />
          <SenderSection {...{ project, editor, senders }} state={states.sender} />
          <ContentSection
            {...{ project, editor, preview, search }}
            onSearch={show}
            state={states.content}
          />
          <AbSection
            {...{ id, project, editor, senders }}
            recipients={count.data?.recipients}
            state={states.ab}
          />
          <ChecksSection {...{ id, project, editor, checks, isReady }} state={states.checks} />
          <WhenSection {...{ campaign, editor, when }} state={states.when} />
        </div>
      </div>
      <AudienceDrawer
        {...{ id, project, editor }}
        who={search.who}
        onClose={() => show({ who: "" })}
      />
      <ReviewDialog
        {...{ id, editor, states, count }}
        isOpen={isReviewing}
        onClose={review.close}
        mail={preview.data}
        when={when.when}
        onSent={review.close}
      />
      <ConflictDialog
        conflict={isComparing ? editor.conflict : null}
        mine={value}
        noun="campaign"
        labels={CAMPAIGN_LABELS}
        onResolve={editor.resolve}
        onClose={stopComparing}
      />
    </Page>
  );
}

/** The state of the draft and of its sections. */
function useDraft(campaign: Campaign, project: string) {
  const { id, revision } = campaign;
  const client = useQueryClient();
  const requests = useMemo(() => campaignRequests(client, project, id), [client, project, id]);
  const editor = useAutosave({
    key: `campaigns:${id}`,
    value: readSource(campaign),
    revision,
    groups: CAMPAIGN_GROUPS,
    ...requests,
  });
  const { value } = editor;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const show = (next: CampaignSearch) =>
    void navigate({ search: readCampaignSearch({ ...search, ...next }), replace: true });
  const choice = useAudienceChoice(editor);
  const count = useAudienceCount(project, value, choice.incomplete === null);
  const senders = useSenders(project);
  const preview = useDraftPreview(project, { ...value, type: value.category }, search.as);
  // The settled body is examined, because examining it after each keystroke would be slow.
  const { body } = preview.settled;
  const hasWords = useMemo(() => showsAnything(body), [body]);
  const faults = writtenFaults(value, preview.data?.errors ?? []).length;
  const content = contentState(value, { faults, hasWords });
  const isChecked = content.status === "DONE" && !preview.isStale;
  const checks = useDraftChecks(project, preview.settled, isChecked);
  const when = useWhen(id);
  const now = useNow();
  const states = {
    audience: audienceState({
      incomplete: choice.incomplete,
      count: count.data === undefined ? undefined : withoutHeldOut(count.data, value.abTest),
      isFailed: count.error !== null,
    }),
    sender: senderState(value, senders.unverifiedIn(value.from)),
    content,
    ab: abState(value.abTest, {
      recipients: count.data?.recipients,
      isLocalTime: when.when.kind === "LOCAL",
    }),
    checks: checksState(content, checks.data),
    when: whenState(when.when, now),
  };
  return { editor, states, choice, count, senders, preview, checks, when, search, show };
}
