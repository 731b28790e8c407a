// passwords.js - looks up a password in a filter of SHA-1 hashes, in the page.
"use strict";

let engine;
let filter = null;
let asked = 0;                  // the number of the last question

// ---- The filter ---------------------------------------------------------------

// Returns the keys that a filter may have for a hash, by the form that it states;
// files of other systems state none. Where the form leaves a choice, all of them
// are looked up, so that no leaked password is missed.
function keysOf(hash, form = "any") {
    const lower = [...hash].map((byte) => byte.toString(16).padStart(2, "0"))
        .join("");
    if (form === "hex" || form === "bytes")
        return [hash];
    if (/^(text|utf16)\b/.test(form))
        return /case=/.test(form) ? [lower] : [lower, lower.toUpperCase()];
    return form === "any" ? [hash, lower, lower.toUpperCase()] : [];
}

function use(bytes, name) {
    const opened = engine.Filter.fromBytes(bytes);      // or it throws
    const info = opened.info();
    if (keysOf(new Uint8Array(20), info.keys).length === 0) {
        opened.free();
        throw new Error(`its keys have the form ${info.keys}, and are not hashes`);
    }
    if (filter)
        filter.free();
    filter = opened;
    asked++;
    say("file-error", "");
    say("answer", "");
    say("why", "");
    say("said", name);
    $("facts").replaceChildren(
        fact("kind", info.kind), fact("file", size(bytes.length)),
        fact("passwords", Number.isFinite(Number(info.items))
            ? whole(Number(info.items)) : "not known"),
        fact("rate", percent(info.rate)),
        fact("memory of the library", size(engine.memory())));
    $("check").disabled = false;
}

async function take(file) {
    try {
        use(new Uint8Array(await file.arrayBuffer()), file.name);
    } catch (error) {
        say("file-error", `${file.name}: ${error.message}`);
    }
}

function demonstrate() {
    use(Uint8Array.from(atob(DEMO), (letter) => letter.charCodeAt(0)),
        "The demonstration");
}

// Passwords that every list has. A filter does not say which hashes it holds: one
// that lacks most of these may be of other hashes, such as NTLM's.
const USUAL = ["123456", "password", "qwerty", "111111", "iloveyou"];

const hashOf = async (password) => new Uint8Array(await crypto.subtle.digest(
    "SHA-1", new TextEncoder().encode(password)));

const contains = (hash, form) =>
    keysOf(hash, form).some((key) => filter.contains(key));

// ---- The password ---------------------------------------------------------------

async function ask() {
    const password = $("password").value;
    const number = ++asked;
    if (password === "" || !filter) {
        say("answer", "");
        say("why", "");
        return;
    }
    const [hash, ...usual] = await Promise.all([password, ...USUAL].map(hashOf));
    if (number !== asked)
        return;                 // another question or filter came meanwhile
    const info = filter.info();
    const keys = keysOf(hash, info.keys);
    const found = contains(hash, info.keys);
    const sure = usual.filter((one) => contains(one, info.keys)).length >
        USUAL.length / 2;
    $("answer").classList.toggle("no", !found && sure);
    $("answer").replaceChildren(element("strong", {}, found ? "Perhaps leaked."
        : sure ? "Certainly not in the list." : "Not found."));
    say("why", found ? "Choose another password. Of passwords that are not in " +
        `the list, a share of ${percent(1 - (1 - info.rate) ** keys.length)} ` +
        "gets this answer by mistake."
        : sure ? "That does not make it a good one: others may guess it all the " +
        "same."
        : "This filter lacks most of the passwords that everybody tries first, " +
        "such as 123456. If it holds other hashes than SHA-1, such as those of " +
        "NTLM, with 32 digits, this page cannot find any password in it.");
}

// ---- Begin ---------------------------------------------------------------------

takeFiles(take);
$("reset").addEventListener("click", demonstrate);
$("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
});
$("password").addEventListener("input", () => {
    asked++;
    say("answer", "");
    say("why", "");
});
$("show").addEventListener("change", () => {
    $("password").type = $("show").checked ? "text" : "password";
});
if (!globalThis.crypto?.subtle)
    say("state", "This browser hashes only on pages that it got by https, from " +
        "this computer or from a file.");
else
    loadEngine().then((loaded) => {
        engine = loaded;
        demonstrate();
        say("state", "");
    }).catch((error) => say("state",
        `The library could not be loaded: ${error.message}`));
