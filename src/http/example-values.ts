/** Ids and times in the examples of the OpenAPI document, so that the examples fit together. */

export const EXAMPLE = {
  contactId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e01",
  emailId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e02",
  templateId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e03",
  campaignId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e04",
  segmentId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e05",
  workflowId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e06",
  executionId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e07",
  domainId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e08",
  webhookId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e09",
  deliveryId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0a",
  eventId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0b",
  inboundRouteId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10",
  receivedMailId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e11",
  jobId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0c",
  layoutId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e12",
  topicId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e14",
  imageId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e13",
  requestId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0d",
  createdAt: "2026-03-02T09:00:00.000Z",
  updatedAt: "2026-03-02T09:00:01.250Z",
} as const;
