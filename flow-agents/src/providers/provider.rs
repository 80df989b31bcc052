//! The providers that are known, and what sets them apart.

/// A provider of models.
#[derive(Debug)]
pub(super) struct Provider {
    /// What stands before the colon in the text of a model.
    pub(super) name: &'static str,
    /// The name that OpenTelemetry has for it.
    pub(super) telemetry: &'static str,
    /// The form of its requests and answers.
    pub(super) protocol: Protocol,
    /// Where it is.
    pub(super) endpoint: &'static str,
    /// The environment variable that its documentation names for the key, if it needs one.
    pub(super) variable: Option<&'static str>,
}

/// The form of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Chat Completions of OpenAI, which many others speak.
    Chat,
    /// Responses of OpenAI.
    Responses,
    /// Messages of Anthropic.
    Messages,
    /// `generateContent` of Gemini.
    Gemini,
}

/// Ollama is asked through its Chat Completions.
static PROVIDERS: [Provider; 9] = [
    chat(
        "openai",
        "openai",
        "https://api.openai.com/v1/",
        Some("OPENAI_API_KEY"),
    ),
    Provider {
        protocol: Protocol::Responses,
        ..chat(
            "openai-responses",
            "openai",
            "https://api.openai.com/v1/",
            Some("OPENAI_API_KEY"),
        )
    },
    Provider {
        name: "anthropic",
        telemetry: "anthropic",
        protocol: Protocol::Messages,
        endpoint: "https://api.anthropic.com/v1/",
        variable: Some("ANTHROPIC_API_KEY"),
    },
    Provider {
        name: "gemini",
        telemetry: "gcp.gemini",
        protocol: Protocol::Gemini,
        endpoint: "https://generativelanguage.googleapis.com/v1beta/",
        variable: Some("GEMINI_API_KEY"),
    },
    chat("ollama", "ollama", "http://localhost:11434/v1/", None),
    chat(
        "mistral",
        "mistral_ai",
        "https://api.mistral.ai/v1/",
        Some("MISTRAL_API_KEY"),
    ),
    chat(
        "deepseek",
        "deepseek",
        "https://api.deepseek.com/v1/",
        Some("DEEPSEEK_API_KEY"),
    ),
    chat(
        "groq",
        "groq",
        "https://api.groq.com/openai/v1/",
        Some("GROQ_API_KEY"),
    ),
    chat("xai", "x_ai", "https://api.x.ai/v1/", Some("XAI_API_KEY")),
];

const fn chat(
    name: &'static str,
    telemetry: &'static str,
    endpoint: &'static str,
    variable: Option<&'static str>,
) -> Provider {
    Provider {
        name,
        telemetry,
        protocol: Protocol::Chat,
        endpoint,
        variable,
    }
}

impl Protocol {
    /// What it calls an answer.
    pub(super) fn answer(self) -> &'static str {
        match self {
            Protocol::Chat => "a chat completion",
            Protocol::Responses => "a response of OpenAI",
            Protocol::Messages => "a message of Anthropic",
            Protocol::Gemini => "an answer of Gemini",
        }
    }

    /// The path of its calls, behind the address of the provider.
    pub(super) fn path(self, model: &str, is_streamed: bool) -> String {
        match self {
            Protocol::Chat => "chat/completions".to_owned(),
            Protocol::Responses => "responses".to_owned(),
            Protocol::Messages => "messages".to_owned(),
            Protocol::Gemini if is_streamed => {
                format!("models/{model}:streamGenerateContent?alt=sse")
            }
            Protocol::Gemini => format!("models/{model}:generateContent"),
        }
    }
}

impl Provider {
    pub(super) fn find(name: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().find(|it| it.name == name)
    }

    /// The names of all, as a sentence lists them.
    pub(super) fn known() -> String {
        PROVIDERS.each_ref().map(|it| it.name).join(", ")
    }

    /// Whether it wants back what its model thought before it called tools, and reads it from the
    /// answer itself. Others send signatures, or want nothing back.
    pub(super) fn wants_thoughts(&self) -> bool {
        self.protocol == Protocol::Messages || self.name == "deepseek"
    }

    /// Whether its models take the schema of an answer. DeepSeek and many models of Groq refuse a
    /// request with one.
    pub(super) fn takes_schemas(&self) -> bool {
        !matches!(self.name, "deepseek" | "groq")
    }
}
