/** Names of our fields and inputs on networks: patterns in lower case with underscores, which only `guess-shapes.ts` compiles. */

export const WHO =
  "(?:author|user|agent|creator|created_by|owner|poster|posted_by|by|account|sender|from|writer|bot|client|employer|publisher|requester|who|giver|patron|issuer|member|citizen|persona|person)";
export const WORKER =
  "(?:assignee|assigned_to|assigned|worker|contractor|hired|taker|winner|freelancer|done_by|doer|hero|performer|executor|holder|given_to|carrier)";
export const NAME = "(?:handle|username|user_name|login|nick|nickname|slug|screen_name|name|tag|alias|call|call_?sign|citizen)";
const MONEY = "(?:reward|budget|price|pay|payment|amount|bounty|fee|credits|payout|prize|gold|coins|wage|compensation)";
export const ID = "(?:id|uid|uuid|guid|key|ref|pk|nr|no|num|number)";

/** Patterns for the names of our fields, in lower case with underscores, best first. */
export const HINTS: Readonly<Record<string, readonly string[]>> = {
  id: [
    "id",
    "_?(?:uuid|uid|guid|pk)",
    `(?:application|bid|proposal)_${ID}`,
    `(?:post|job|agent|community|webhook|hook|task|gig|item|entry|note|group|specialist|account|user)_${ID}`,
    "(?:key|ref|number|no|code)",
    `[a-z]+_${ID}`,
    "slug",
    "handle",
  ],
  authorId: [`${WHO}_${ID}`, `[a-z]+_${WHO}_${ID}`],
  authorHandle: [`${WHO}_${NAME}`, WHO, NAME],
  content: [
    "(?:content|text|body|markdown|message)",
    "(?:content|text|body|message)_[a-z]+",
    "[a-z]+_(?:content|text|body|message)",
    "(?:msg|caption|note|html|value|what|words|says|said|prose|utterance)",
  ],
  community: [
    "(?:community|group|channel|board|forum|space|submolt|topic|room|guild|hub|club|circle|tribe|team|realm)(?:_(?:handle|slug|name|id))?",
  ],
  parentId: [
    `(?:parent|in_reply_to|reply_to|replied_to|answers_to|answer_to|thread|root|topic)(?:_post)?(?:_${ID})?`,
    `(?:on|under|re|post)(?:_${ID})?`,
  ],
  createdAtMs: [
    "(?:created|posted|published|submitted|made|written|said)(?:_(?:at|on|ts|time|date|ms))?",
    "(?:timestamp|ts|date|time|when|at)",
    "[a-z]+_(?:at|on|ts|time|date)",
  ],
  votes: [
    "(?:votes|score|likes|upvotes|points|karma|stars|hearts|claps|boosts|favou?rites|thumbs)",
    "(?:vote|like|upvote)s?_(?:count|total|n)",
    "(?:n|num)_(?:votes|likes)",
  ],
  ownVote: [
    "(?:my|own|your|viewer|user)_(?:vote|like|reaction|flag|opinion|stance|mark|rating)",
    "(?:voted|liked|upvoted)_by_(?:me|viewer)",
    "(?:viewer_)?(?:has|did)_(?:voted|liked|upvoted)",
    "(?:liked|voted|upvoted|starred|hearted|clapped|boosted|favou?rited)",
  ],
  replyCount: ["(?:reply|replies|comment|comments|answers?|children)_(?:count|total|n)", "(?:n|num)_(?:replies|comments)"],
  title: ["(?:title|subject|headline|summary|name|heading|label|caption)", "[a-z]+_(?:title|name)"],
  description: [
    "(?:description|details?|body|content|text|brief|about|spec|instructions|asks|wants|html|message)",
    "(?:summary|tagline)",
    "[a-z]+_description",
  ],
  skills: ["(?:skills?|tags|requirements|capabilities|topics|abilities|needs)", "[a-z]+_(?:skills|tags)"],
  reward: [`${MONEY}`, `${MONEY}_(?:amount|value|credits|total)`, `${MONEY}_[a-z]+`],
  status: ["(?:status|state|phase|stage|progress)", "[a-z]+_(?:status|state)"],
  assigneeId: [`${WORKER}_${ID}`],
  assigneeHandle: [`${WORKER}_${NAME}`, WORKER],
  deadlineMs: ["(?:deadline|due|expires|expiry|ends|closes)(?:_(?:at|on|by|date|time|ts))?"],
  input: ["(?:input|payload|data|attachments?|materials?|dataset|files?|resources?)", "[a-z]+_(?:input|data|files?)"],
  verdict: ["(?:verdict|feedback|reason|review|remark|comment)(?:_[a-z]+)?", "[a-z]+_(?:reason|feedback|note)"],
  replies: [
    "(?:replies|comments|answers|children|responses|thread|discussion|kids|remarks|reactions)",
    "[a-z]+_(?:replies|comments|answers)",
  ],
  handle: ["handle", "(?:username|user_name|slug|login|nick|nickname|screen_name|short_name|tag|alias|call|call_?sign|citizen)", "name"],
  name: ["(?:name|display_name|title|label|full_name)"],
  bio: ["(?:bio|about|description|summary|tagline|profile)"],
  tier: ["(?:tier|plan|level)"],
  trust: ["trust(?:_[a-z]+)?"],
  reputation: ["(?:reputation|karma|rep|score|rating)(?:_[a-z]+)?"],
  memberCount: ["(?:member|members|subscriber|subscribers|user|users)(?:_(?:count|total|n))?", "(?:size|population)"],
  joined: ["(?:joined|is_member|member|subscribed|is_joined)"],
  url: ["(?:url|target_url|endpoint|callback|callback_url|link|href|uri|target|to|address|destination)"],
  events: ["(?:events|event_types|topics|kinds|subscriptions)"],
  active: ["(?:active|enabled|is_active)"],
  likedBy: ["(?:liked|upvoted|starred)_by", "(?:likers|voters|fans|stars|upvoters|supporters)"],
  applicantIds: ["(?:applicants?|bidders?|candidates?|volunteers?)(?:_ids)?", "(?:applications|bids|offers|proposals)"],
  applied: ["(?:has|already|i|have)_applied(?:_by_me)?", "applied_by_me"],
  jobId: [`(?:job|task|gig|bounty|order|quest|work|mission|contract|ticket)(?:_${ID})?`, `(?:on|for)(?:_${ID})?`],
  snippet: ["(?:snippet|excerpt|summary|description|extract|text)"],
  apiKey: ["api_(?:key|token)", "(?:key|key_value|access_key|token|secret)"],
  webhookSecret: ["(?:secret|signing_secret|signing_key|webhook_secret)"],
  accessToken: ["access_token", "(?:token|jwt|bearer)"],
  expiresInMs: ["(?:expires_in|ttl|lifetime)(?:_[a-z]+)?"],
  // Inputs of requests.
  direction: ["(?:direction|vote|value|kind|type|score|reaction|up|opinion|stance)"],
  message: ["(?:message|cover_letter|proposal|pitch|note|comment|text|body|content|letter|motivation)"],
  deliverable: ["(?:deliverable|result|output|work|answer|submission|content|payload|data|text|body)", "(?:result|output)_[a-z]+"],
  deadline: ["(?:deadline|due|expires|expiry|ends|closes)(?:_(?:at|on|by|date|time|ts))?"],
  query: ["(?:query|q|term|terms|search|keywords?|text)"],
  secret: ["(?:secret|signing_secret|signing_key|webhook_secret)"],
  refreshToken: ["refresh_token", "(?:refresh|token)"],
  skill: ["(?:skills?|tags?|requirement|capability|topic)"],
  author: [`${WHO}(?:_(?:id|handle|name))?`],
};
