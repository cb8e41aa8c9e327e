/** The contract of an adapter, as every framework in Python passes it, in each way to call the SDK:
 * what holds is in what the model gets, what no longer holds is nowhere in it, the application's own
 * messages are whole, and nothing is observed twice. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { IncumbentError, type IncumbentOptions } from "@incumbent/ai-sdk";

import {
  BreaksOff,
  Calls,
  Chat,
  Fails,
  Hangs,
  INSTRUCTIONS,
  IN_STOCK,
  MODES,
  NoAnswer,
  form,
  type Mode,
} from "./chat.js";
import { Serving, ask } from "./serving.js";

const [OLD, NEW, SUPPOSED] = ["123 Main St", "456 Oak Ave", "789 Pine Rd"];
const ORDER = `We need 40 desks by Friday. The shipping address is ${OLD}.`;
const CHANGE = `No, 45 desks. And the shipping address is ${NEW} now.`;
const WHAT_IF = `What if we shipped to ${SUPPOSED} instead?`;
const ASKED = "What do we ship, and where?";

let service: Serving;
let organizations = 0;

before(async () => {
  service = await Serving.start();
});
after(() => service.stop());

/** A chat of Alice, in an organization of its own. */
function chatOf(options: IncumbentOptions = {}): Chat {
  organizations += 1;
  return new Chat(
    service.url,
    { userId: "alice", organization: `org-${organizations}`, sessionId: "t1" },
    options,
  );
}

function count(text: string, words: string): number {
  return text.split(words).length - 1;
}

for (const mode of MODES) {
  describe(mode, () => contract(mode));
}

function contract(mode: Mode): void {
  test("only what holds is in what the model gets", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, [new Calls(OLD!), `So 40 desks go to ${OLD} by Friday?`]);
    const earlier = chat.sent.length;
    await chat.say(mode, CHANGE, ["Noted."]);
    await chat.say(mode, ASKED, [`45 desks, to ${NEW}.`]);
    const later = chat.sent.slice(earlier);
    assert.equal(later.length, 2);
    for (const prompt of later) {
      assert.ok(prompt.includes(NEW!) && prompt.includes("45 desks"), prompt);
      assert.ok(!prompt.includes(OLD!) && !prompt.includes("40 desks"), prompt);
      assert.equal(count(prompt, INSTRUCTIONS), 1);
      assert.equal(count(prompt, "# Facts"), 1);
    }
  });

  test("a what-if becomes no fact", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, ["Noted."]);
    assert.ok((await chat.say(mode, WHAT_IF, ["That takes a week."])).includes(SUPPOSED!));
    const prompt = await chat.say(mode, ASKED, [`40 desks, to ${OLD}.`]);
    assert.ok(prompt.includes(OLD!) && !prompt.includes(SUPPOSED!), prompt);
    const current = await ask(service.url, "current", {
      session: form(chat.who),
      key: "shipping_address",
    });
    assert.equal(current, OLD);
  });

  test("what a tool tells is known", async () => {
    const chat = chatOf();
    const prompt = await chat.say(mode, "Do we have desks?", [new Calls("us"), "Yes."]);
    assert.ok(prompt.includes(IN_STOCK));
    assert.deepEqual((await chat.turns()).slice(1), [
      ["tool", IN_STOCK],
      ["assistant", "Yes."],
    ]);
  });

  test("the application's own messages are whole", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, [new Calls(OLD!), `So to ${OLD}?`]);
    await chat.say(mode, CHANGE, ["Noted."]);
    const messages = structuredClone(chat.history());
    await chat.say(mode, ASKED, ["45 desks."]);
    assert.deepEqual(chat.history().slice(0, messages.length), messages);
    const history = JSON.stringify(messages);
    for (const words of [ORDER, `So to ${OLD}?`, IN_STOCK, CHANGE, "Noted."]) {
      assert.equal(count(history, words), 1, words);
    }
    assert.equal(count(history, OLD!), 3);
    assert.ok(!history.includes("no longer current") && !history.includes("# Facts"));
  });

  test("a turn is observed once", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, [new Calls(OLD!), "So to Main St?"]);
    await chat.say(mode, "Yes.", ["Good."]);
    await chat.say(mode, "Yes.", ["Fine."]);
    assert.deepEqual(await chat.turns(), [
      ["user", ORDER],
      ["tool", IN_STOCK],
      ["assistant", "So to Main St?"],
      ["user", "Yes."],
      ["assistant", "Good."],
      ["user", "Yes."],
      ["assistant", "Fine."],
    ]);
  });

  test("another person sees nothing of it, and neither does another organization", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, ["Noted."]);
    await chat.say(mode, CHANGE, ["Noted."]);
    for (const other of [{ userId: "bob" }, { organization: `${chat.who.organization}-other` }]) {
      const prompt = await chat.say(mode, ASKED, ["I do not know."], other);
      for (const words of [NEW!, OLD!, "desks"]) assert.ok(!prompt.includes(words), prompt);
    }
  });

  test("a retry is the same turn", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, ["Noted."]);
    await assert.rejects(chat.say(mode, CHANGE, [new Calls(OLD!), new Fails()]), NoAnswer);
    const prompt = await chat.say(mode, CHANGE, ["Noted, too."]);
    assert.ok(prompt.includes(NEW!) && !prompt.includes(OLD!), prompt);
    assert.deepEqual(await chat.turns(), [
      ["user", ORDER],
      ["assistant", "Noted."],
      ["user", CHANGE],
      ["tool", IN_STOCK],
      ["assistant", "Noted, too."],
    ]);
  });

  test("a cancelled run leaves what was said", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, ["Noted."]);
    const giving = new AbortController();
    const hangs = chat.hangs();
    const run = chat.say(mode, CHANGE, [new Hangs()], {}, giving.signal);
    await hangs;
    giving.abort();
    await assert.rejects(run);
    assert.deepEqual((await chat.turns()).slice(2), [["user", CHANGE]]);
    const prompt = await chat.say(mode, CHANGE, ["Noted, too."]);
    assert.ok(prompt.includes(NEW!) && !prompt.includes(OLD!), prompt);
    assert.deepEqual((await chat.turns()).slice(2), [
      ["user", CHANGE],
      ["assistant", "Noted, too."],
    ]);
  });

  test("an answer that the model broke off is none", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, [new BreaksOff("So 40 de")]).catch(() => undefined);
    assert.deepEqual(await chat.turns(), [["user", ORDER]]);
  });

  test("the middleware can name the person, and nobody gets the rank of another", async () => {
    const chat = chatOf({ userId: "carol", authority: "executive" });
    const { organization, sessionId } = chat.who;
    for (const userId of ["dora", undefined]) {
      await chat.say(mode, "The venue is Lyon.", ["Noted."], { userId } as object);
    }
    const ranks = ["carol", "dora"].map(async (user_id) => {
      const session = { user_id, organization, session_id: sessionId, authority: "executive" };
      return (await ask(service.url, "facts", { session }))[0].authority;
    });
    assert.deepEqual(await Promise.all(ranks), ["executive", "employee"]);
  });

  test("a run of nobody is refused, and the model is not asked", async () => {
    const refused = {
      name: "IncumbentError",
      message: /nothing says the userId of this run.*providerOptions\.incumbent/,
    };
    const nobody = chatOf();
    await assert.rejects(nobody.say(mode, ORDER, [], { userId: undefined } as object), refused);
    const carols = chatOf({ userId: "carol" });
    await assert.rejects(carols.say(mode, ORDER, [], { userId: "" }), refused);
    const session = { name: "IncumbentError", message: /nothing says the sessionId/ };
    await assert.rejects(nobody.say(mode, ORDER, [], { sessionId: "" }), session);
    assert.deepEqual([...nobody.sent, ...carols.sent], []);
  });

  test("the oldest messages go where there is a budget", async () => {
    const chat = chatOf({ messagesBudget: 40 });
    await chat.say(mode, ORDER, ["A word. ".repeat(40)]);
    await chat.say(mode, "Thanks.", ["Welcome."]);
    const prompt = await chat.say(mode, ASKED, ["40 desks."]);
    assert.ok(
      !prompt.includes("A word.") && prompt.includes(OLD!) && prompt.includes(ASKED),
      prompt,
    );
  });

  test("a model can read without observing", async () => {
    const chat = chatOf();
    await ask(service.url, "write", {
      session: form(chat.who),
      key: "shipping_address",
      value: NEW,
    });
    const prompt = await chat.say(mode, ORDER, [new Calls(OLD!), "Noted."], { observe: false });
    assert.ok(prompt.includes(NEW!));
    assert.deepEqual(await chat.turns(), []);
  });

  test("a model that is only observed gets what it would get without a memory", async () => {
    const chat = chatOf();
    await chat.say(mode, ORDER, ["Noted."], { memoryMode: "observe" });
    const prompt = await chat.say(mode, CHANGE, ["Noted."], { memoryMode: "observe" });
    assert.ok(prompt.includes(OLD!) && !prompt.includes("# Facts"));
    assert.deepEqual(
      (await chat.turns()).map(([speaker]) => speaker),
      ["user", "assistant", "user", "assistant"],
    );
  });

  test("if the memory cannot be reached, the run fails and the model is not asked", async () => {
    const chat = new Chat("http://127.0.0.1:9", { userId: "alice", sessionId: "t1" });
    await assert.rejects(
      chat.say(mode, ORDER, []),
      (error) => error instanceof IncumbentError && /incumbent serve/.test(error.message),
    );
    assert.deepEqual(chat.sent, []);
  });
}

test("another session knows the next day what holds", async () => {
  const chats = MODES.map((mode) => ({ mode, before: chatOf() }));
  for (const { mode, before: chat } of chats) {
    await chat.say(mode, ORDER, ["Noted."]);
    await chat.say(mode, CHANGE, ["Noted."]);
  }
  await service.later(1);
  for (const { mode, before: chat } of chats) {
    const next = new Chat(service.url, { ...chat.who, sessionId: "t2" });
    const prompt = await next.say(mode, ASKED, ["45 desks."]);
    assert.ok(
      prompt.includes(NEW!) && prompt.includes("[45] desks") && !prompt.includes(OLD!),
      prompt,
    );
  }
});
