"""Profile models: E1's model, joined with those of the profile's other spaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hyperloci.config import Settings
from hyperloci.embedder.models.loader import load_bundled_stages, load_foundation_stages
from hyperloci.embedder.models.packaged_models import load_packaged_encoder, load_packaged_tokens, require_kind
from hyperloci.embedder.packaged.catalogue import list_packaged_models
from hyperloci.embedder.packaged.installed import find_model_folder
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.errors import ConfigurationError, NotReadyError
from hyperloci.spaces.encoder import EncodeRequest
from hyperloci.spaces.profile import (
    BUNDLED,
    FINGERPRINT_VERSION,
    RULE,
    ModelChoice,
    Profile,
    compose_model_id,
    find_profile,
)
from hyperloci.spaces.space import SPACE_OF_COLUMN, SPACES, SpaceKind

if TYPE_CHECKING:
    from hyperloci.embedder.models.colbert import ColbertModel
    from hyperloci.embedder.models.device import ComputeDevice
    from hyperloci.embedder.models.onnx_model import OnnxTokenModel
    from hyperloci.embedder.models.related_words import WordVectors
    from hyperloci.embedder.models.splade import SpladeModel
    from hyperloci.spaces.encoder import Encoder
    from hyperloci.spaces.profile_encoder import ProfileEncoder, TokenModel

_WARM_UP: Final = "warm up"


def load_profile_stages(settings: Settings) -> Iterator[EncoderStage]:
    """Bring up the models of the profile that `settings` name, in forms that answer ever faster.

    The first comes as soon as it can. Models of other spaces than E1's come with the last one, all of them warm.

    Raises:
        ConfigurationError: no such profile or model, or it cannot be used here.
    """
    profile = _add_known_prompts(find_profile(settings.profile, settings.profiles, settings.model))
    for stage in load_foundation_stages(profile.choice_of("e1"), settings.device, settings.models_dir):
        check_dimensions(stage, settings.embedding_dimensions)
        yield from _build_profile_encoder(stage, profile, settings)


def has_light_encoder(settings: Settings) -> bool:
    """Return whether this process can encode questions without torch: by the bundled model and packaged ONNX ones.

    Raises:
        ConfigurationError: no such profile.
    """
    choices = find_profile(settings.profile, settings.profiles, settings.model).choices
    plain = (ModelChoice(BUNDLED), ModelChoice(RULE))
    return all(choice in plain or (space == "e12" and _is_light(choice)) for space, choice in choices.items())


def _is_light(choice: ModelChoice) -> bool:
    """Return whether a model loads in a fraction of a second, without torch."""
    known = list_packaged_models().get(choice.model)
    return known is not None and known.kind == "tokens"


def _add_known_prompts(profile: Profile) -> Profile:
    """Put before a question what the catalogue says a packaged model was trained with, where nothing else is set."""
    known = list_packaged_models()
    return Profile(
        profile.name,
        {
            space: replace(choice, query=known[choice.model].query)
            if choice.model in known and not choice.query
            else choice
            for space, choice in profile.choices.items()
        },
    )


def load_light_encoder(settings: Settings) -> Encoder:
    """Return the encoder of all spaces that numpy computes: what an embedder answers with until torch is loaded.

    Raises:
        NotReadyError: the profile has models that need torch.
        ConfigurationError: no such profile, or the bundled model cannot be read.
    """
    if not has_light_encoder(settings):
        raise NotReadyError(f"The models of profile {settings.profile} need an embedder.")
    return next(load_profile_stages(settings)).encoder


def _build_profile_encoder(stage: EncoderStage, profile: Profile, settings: Settings) -> Iterator[EncoderStage]:
    """Add the profile's other models to a stage of E1's model; an interim one is left out if slow ones must load first.

    Raises:
        ConfigurationError: a model cannot be used here.
    """
    from hyperloci.spaces.profile_encoder import ProfileEncoder

    foundation = profile.choice_of("e1")
    others = {space: choice for space, choice in profile.choices.items() if space != "e1"}
    foreign = {space for space, choice in others.items() if choice.model not in (foundation.model, RULE)}
    if stage.interim and not all(space == "e12" and _is_light(others[space]) for space in foreign):
        return
    models = _ModelLoader(stage, foundation, settings)
    eyes = ProfileEncoder(
        models.load_prompted(foundation),
        others={space: models.load_prompted(choice) for space, choice in others.items() if space not in ("e12", "e13")},
        token_model=models.load_colbert(others["e12"]) if "e12" in foreign else None,
        sparse_model=models.load_splade(others["e13"]) if "e13" in foreign else None,
        neighbours=None if "e13" in foreign else _load_word_vectors(),
    )
    eyes.model_id = compose_model_id(stage.encoder.model_id, FINGERPRINT_VERSION, models.collect_model_ids(others))
    if foreign:
        _warm_up(eyes)
    yield replace(stage, encoder=eyes)


def check_dimensions(stage: EncoderStage, wanted: int) -> None:
    """Refuse a model with other dimensions than the settings want (0 is any), before it embeds every memory again.

    Raises:
        ConfigurationError: it has others.
    """
    found = stage.encoder.dimensions
    if wanted and found != wanted:
        raise ConfigurationError(
            f"embedding_dimensions={wanted}, but {stage.encoder.model_id} has {found}: name a model with {wanted} "
            "dimensions, or set embedding_dimensions to 0 to take any."
        )


def _warm_up(eyes: ProfileEncoder) -> None:
    """Encode a text with every model, so that all are warm for the first memory and the first question (E.17)."""
    columns = [column for column, space in SPACE_OF_COLUMN.items() if SPACES[space].kind is SpaceKind.DENSE]
    spaces = (*columns, "e12") if eyes.has_tokens else tuple(columns)
    for query in (False, True):
        eyes.encode_requests([EncodeRequest(text=_WARM_UP, spaces=spaces, query=query)])
        eyes.expand_terms([_WARM_UP], query=query)


class _ModelLoader:
    """Loads each model once, however many spaces use it."""

    def __init__(self, stage: EncoderStage, foundation: ModelChoice, settings: Settings) -> None:
        self._loaded: dict[str, Encoder] = {foundation.model: stage.encoder}
        self._prompted: dict[ModelChoice, Encoder] = {}
        self._ids: dict[str, str] = {}
        self._device = settings.device
        self._models_dir = settings.models_dir

    def load_prompted(self, choice: ModelChoice) -> Encoder:
        """Return the same encoder for the same choice, so that its spaces are encoded in one call."""
        return self._prompted.get(choice) or self._prompted.setdefault(choice, self._load_with_prompts(choice))

    def _load_with_prompts(self, choice: ModelChoice) -> Encoder:
        encoder = self._loaded.get(choice.model) or self._loaded.setdefault(
            choice.model, self._load_model(choice.model)
        )
        if not choice.query and not choice.document:
            return encoder
        from hyperloci.embedder.models.sentence_transformer import PromptedEncoder

        return PromptedEncoder(encoder, query=choice.query, document=choice.document)

    def _load_model(self, model: str) -> Encoder:
        if model == BUNDLED:
            return list(load_bundled_stages(self._device))[-1].encoder
        if model in list_packaged_models():
            return load_packaged_encoder(model, self._models_dir)
        from hyperloci.embedder.models.sentence_transformer import load_sentence_encoder

        return load_sentence_encoder(model, self._choose_device())

    def load_colbert(self, choice: ModelChoice) -> TokenModel:
        model: ColbertModel | OnnxTokenModel
        if choice.model in list_packaged_models():
            model = load_packaged_tokens(choice.model, self._models_dir)
        else:
            from hyperloci.embedder.models.colbert import load_colbert

            model = load_colbert(choice.model, self._choose_device())
        self._ids["e12"] = model.model_id
        return model

    def load_splade(self, choice: ModelChoice) -> SpladeModel:
        from hyperloci.embedder.models.splade import load_splade

        name = choice.model
        if name in list_packaged_models():
            name = str(find_model_folder(require_kind(name, "sparse", "e13"), self._models_dir))
        model = load_splade(name, self._choose_device())
        self._ids["e13"] = model.model_id
        return model

    def _choose_device(self) -> ComputeDevice:
        from hyperloci.embedder.models.device import choose_float32_on_cpu

        return choose_float32_on_cpu(self._device)

    def collect_model_ids(self, others: dict[str, ModelChoice]) -> dict[str, str]:
        """Return what decides each space beside E1's: a model's id and the words in front of a text."""
        found = {
            space: self._loaded[choice.model].model_id
            for space, choice in others.items()
            if choice.model in self._loaded
        }
        listed = {**found, **self._ids}
        return {space: f"{model}|{others[space].query}|{others[space].document}" for space, model in listed.items()}


def _load_word_vectors() -> WordVectors | None:
    """Return the bundled model's words; None where it is not installed."""
    from hyperloci.embedder.models.bundled import find_model_folder, read_tokenizer, verify_weights
    from hyperloci.embedder.models.related_words import WordVectors

    try:
        folder = find_model_folder()
        return WordVectors(verify_weights(folder), read_tokenizer(folder))
    except ConfigurationError:
        return None
