/** What stands in messages besides plain text, and what goes wrong beside the talk. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import type { ModelMessage } from "ai";
import { IncumbentError, incumbentMiddleware, type IncumbentOptions } from "@incumbent/ai-sdk";

import { Calls, Chat, INSTRUCTIONS, form } from "./chat.js";
import { Serving, ask } from "./serving.js";

const [OLD, NEW] = ["123 Main St", "456 Oak Ave"];
const GONE = "[no longer current]";

let service: Serving;
let organizations = 0;

before(async () => {
  service = await Serving.start();
});
after(() => service.stop());

function chatOf(options: IncumbentOptions = {}): Chat {
  organizations += 1;
  return new Chat(
    service.url,
    { userId: "alice", organization: `org-${organizations}`, sessionId: "t1" },
    options,
  );
}

/** A chat in which the old address no longer holds. */
async function moved(options: IncumbentOptions = {}): Promise<Chat> {
  const chat = chatOf(options);
  await chat.say("generateText", `The shipping address is ${OLD}.`, ["Noted."]);
  await chat.say("generateText", `The shipping address is ${NEW} now.`, ["Noted."]);
  return chat;
}

/** What the model is sent of messages, without the instructions. */
async function sentOf(chat: Chat, messages: ModelMessage[]): Promise<any[]> {
  await chat.run("generateText", messages, { ...chat.who, observe: false }).catch(() => undefined);
  return chat.calls.at(-1)!.prompt.filter((message) => message.role !== "system");
}

test("pictures, thoughts and what a provider's own tools did are sent as they are", async () => {
  const chat = await moved();
  const picture = new Uint8Array([1, 2, 3]);
  const messages: ModelMessage[] = [
    {
      role: "user",
      content: [
        { type: "text", text: `Two lamps are to go to ${OLD} today.` },
        { type: "file", data: picture, mediaType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: `They said ${OLD}.` },
        {
          type: "tool-call",
          toolCallId: "s1",
          toolName: "search",
          input: { q: OLD },
          providerExecuted: true,
        },
        {
          type: "tool-result",
          toolCallId: "s1",
          toolName: "search",
          output: { type: "text", value: "A map." },
        },
        { type: "text", text: `Two lamps go to ${OLD} then.` },
      ],
    },
    { role: "user", content: "Where to?" },
  ];
  const [asked, answered] = await sentOf(chat, messages);
  assert.equal(asked.content[0].text, `Two lamps are to go to ${GONE} today.`);
  assert.deepEqual(asked.content[1].data.data, picture);
  assert.equal(answered.content[0].text, `They said ${OLD}.`);
  assert.deepEqual(answered.content[1].input, { q: OLD });
  assert.equal(answered.content[3].text, `Two lamps go to ${GONE} then.`);
});

test("what tools were called with and gave back keeps its form", async () => {
  const chat = await moved();
  const outputs = [
    { type: "json", value: { orders: [{ to: `${OLD}, Oslo`, desks: 40 }], total: 1 } },
    { type: "text", value: `Two lamps were sent to ${OLD} today.` },
    { type: "error-text", value: `No truck goes to ${OLD} on Sunday.` },
    {
      type: "content",
      value: [
        { type: "text", text: `A map of ${OLD} in two parts.` },
        { type: "file", data: { type: "data", data: "AQID" }, mediaType: "image/png" },
      ],
    },
    { type: "execution-denied", reason: "No." },
  ];
  const calls = outputs.map((_, number) => ({
    type: "tool-call",
    toolCallId: `c${number}`,
    toolName: "stock",
    input: { shipTo: OLD, more: [1, null] },
  }));
  const results = outputs.map((output, number) => ({
    type: "tool-result",
    toolCallId: `c${number}`,
    toolName: "stock",
    output,
  }));
  const messages = [
    { role: "user", content: "Look." },
    { role: "assistant", content: calls },
    { role: "tool", content: results },
    { role: "assistant", content: "Done." },
    { role: "user", content: "Where to?" },
  ] as ModelMessage[];
  const [, called, returned] = await sentOf(chat, messages);
  for (const call of called.content)
    assert.deepEqual(call.input, { shipTo: GONE, more: [1, null] });
  const [json, text, error, content, denied] = returned.content.map((part: any) => part.output);
  assert.deepEqual(json.value, { orders: [{ to: `${GONE}, Oslo`, desks: 40 }], total: 1 });
  assert.equal(text.value, `Two lamps were sent to ${GONE} today.`);
  assert.deepEqual(error, { type: "error-text", value: `No truck goes to ${GONE} on Sunday.` });
  assert.equal(content.value[0].text, `A map of ${GONE} in two parts.`);
  assert.equal(content.value[1].type, "file");
  assert.deepEqual(denied, { type: "execution-denied", reason: "No." });
});

test("an object that a tool gives back is on record as JSON", async () => {
  const chat = chatOf();
  chat.result = { desks: 60 };
  await chat.say("generateText", "Do we have desks?", [new Calls("us"), "Yes."]);
  assert.deepEqual((await chat.turns())[1], ["tool", '{"desks":60}']);
});

test("a document in a message is guarded, and is not the person's word", async () => {
  const chat = await moved();
  const content = [
    { type: "text", text: "Check this." },
    {
      type: "file",
      data: { type: "text", text: `Deliver to ${OLD}. Our fax number is 555-0100.` },
      mediaType: "text/plain",
    },
  ];
  await chat
    .run("generateText", [{ role: "user", content } as ModelMessage], chat.who)
    .catch(() => undefined);
  const prompt = JSON.stringify(chat.calls.at(-1)!.prompt);
  assert.ok(prompt.includes(`Deliver to ${GONE}.`) && prompt.includes("fax"), prompt);
  assert.deepEqual((await chat.turns()).at(-1), ["user", "Check this."]);
});

test("the provider gets its own options, and not who is speaking", async () => {
  const chat = chatOf();
  await chat.say("generateText", "Hello.", ["Hello."]);
  assert.deepEqual(chat.calls[0]!.providerOptions, { other: { kept: true } });
});

test("instructions with options of their own stay as they are", async () => {
  const chat = await moved();
  const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const middleware = incumbentMiddleware({ url: service.url });
  const prompt = [
    { role: "system" as const, content: INSTRUCTIONS, providerOptions: cached },
    { role: "user" as const, content: [{ type: "text" as const, text: "Where to?" }] },
  ];
  const params = {
    prompt,
    providerOptions: { incumbent: { ...chat.who, observe: false } as Record<string, any> },
  };
  const made = await middleware.transformParams!({ type: "generate", params, model: chat.model });
  assert.equal(made.prompt[0], prompt[0]);
  assert.ok(made.prompt[1]!.role === "system" && made.prompt[1]!.content.includes(NEW!));
  assert.equal(made.prompt[2], prompt[1]);
  assert.equal(params.prompt.length, 2);
});

test("a run that stopped at a tool, and goes on with another word, tells each thing once", async () => {
  const chat = chatOf();
  const call = (toolCallId: string) => ({
    role: "assistant",
    content: [{ type: "tool-call", toolCallId, toolName: "stock", input: {} }],
  });
  const result = (toolCallId: string, value: string) => ({
    role: "tool",
    content: [
      { type: "tool-result", toolCallId, toolName: "stock", output: { type: "text", value } },
    ],
  });
  const talk = [
    { role: "user", content: "Do we have desks?" },
    call("0"),
    result("0", "60 desks."),
    { role: "user", content: "And lamps?" },
    call("0"), // a provider that counts from 0 each time
    result("0", "9 lamps."),
    { role: "user", content: "And chairs?" },
    call("0"),
    result("0", "2 chairs."),
  ] as ModelMessage[];
  for (const length of [1, 4, 7, 9, 9]) {
    await chat.run("generateText", talk.slice(0, length), chat.who).catch(() => undefined);
  }
  assert.deepEqual(await chat.turns(), [
    ["user", "Do we have desks?"],
    ["tool", "60 desks."],
    ["user", "And lamps?"],
    ["tool", "9 lamps."],
    ["user", "And chairs?"],
    ["tool", "2 chairs."],
  ]);
});

test("the same request twice at the same time is one turn", async () => {
  const chat = chatOf();
  await chat.say("generateText", "Hello.", ["Hello."]);
  const messages: ModelMessage[] = [...chat.history(), { role: "user", content: "My desk is 4." }];
  await Promise.allSettled([1, 2, 3, 4].map(() => chat.run("generateText", messages, chat.who)));
  assert.deepEqual((await chat.turns()).slice(2), [["user", "My desk is 4."]]);
});

test("an answer in several texts, or with halves of characters, is observed", async () => {
  const chat = chatOf();
  for (const mode of ["generateText", "streamText"] as const) {
    await chat.say(mode, `Hello, ${mode}.`, [
      [
        { type: "text", text: "One \ud83d." },
        { type: "text", text: "Two." },
      ],
    ]);
    assert.deepEqual((await chat.turns()).at(-1), ["assistant", "One \ufffd.\nTwo."]);
  }
});

test("what is too long to be a turn is sent, and somebody is told", async () => {
  const chat = chatOf();
  chat.result = "A word. ".repeat(20_000);
  const prompt = await chat.say("streamText", "Read this: " + "word ".repeat(30_000), [
    new Calls("us"),
    "Done.",
  ]);
  assert.ok(prompt.includes("A word. A word."));
  assert.match(
    chat.warnings.join("\n"),
    /a turn \(user\) was not observed[^]*a turn \(tool\) was not observed/,
  );
  assert.deepEqual(await chat.turns(), [["assistant", "Done."]]);
});

test("a misspelt name is refused, wherever it stands", async () => {
  assert.throws(
    () => incumbentMiddleware({ user_id: "alice" } as object),
    /there is no option "user_id" in incumbentMiddleware; there are userId/,
  );
  const chat = chatOf();
  await assert.rejects(
    chat.say("generateText", "Hello.", [], { userID: "bob" } as object),
    /no option "userID" in providerOptions.incumbent/,
  );
});

test("a service that is busy is asked again, and one that answers nonsense is named", async () => {
  const told: string[] = [];
  const busy = createServer((request, response) => {
    told.push(`${request.headers["idempotency-key"]}`);
    response.writeHead(told.length < 3 ? 503 : 418, { "retry-after": "0" }).end("later");
  }).listen(0, "127.0.0.1");
  await new Promise((done) => busy.once("listening", done));
  const chat = new Chat(`http://127.0.0.1:${(busy.address() as AddressInfo).port}/`, {
    userId: "alice",
    sessionId: "t1",
  });
  const refused = (error: unknown) =>
    error instanceof IncumbentError &&
    error.status === 418 &&
    /is this address incumbent's/.test(error.message);
  await assert.rejects(chat.say("generateText", "Hello.", []), refused);
  assert.deepEqual(told, Array(3).fill(told[0]));
  busy.close();
});

// Last, because a service asks everybody for a key from the first one on.
test("a key says the organization, and a wrong one is refused", async () => {
  const printed = await service.command(
    "keys",
    "create",
    "shop",
    "--org",
    "acme",
    "--scope",
    "read",
    "--scope",
    "write",
  );
  const key = /incumbent_\S+/.exec(printed)![0];
  const who = { userId: "alice", sessionId: "t1" };
  const chat = new Chat(service.url, who, { key });
  await chat.say("generateText", "My desk is 4.", ["Noted."]);
  const session = { ...form(who), organization: "acme" };
  assert.equal(await ask(service.url, "current", { session, key: "desk" }, key), "4");
  for (const options of [{ key: "incumbent_nonsense" }, {}]) {
    const stranger = new Chat(service.url, who, options);
    const refused = (error: unknown) => error instanceof IncumbentError && error.status === 401;
    await assert.rejects(stranger.say("generateText", "Hello.", []), refused);
    assert.deepEqual(stranger.sent, []);
  }
});
