"""The arithmetic of checking a signature. Source: RFC 8032, FIPS 186-5, RFC 8017."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    SECP521R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512

from okld.base.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from okld.bundle.public_key import PublicKey
    from okld.bundle.sshsig import KeySignature

_CURVES = {
    "nistp256": (SECP256R1(), SHA256()),
    "nistp384": (SECP384R1(), SHA384()),
    "nistp521": (SECP521R1(), SHA512()),
}
_RSA_HASHES = {"rsa-sha2-256": SHA256(), "rsa-sha2-512": SHA512()}


def is_valid(signature: KeySignature, key: PublicKey, data: bytes) -> bool:
    """
    Return whether *signature* is one of *data* by *key*.

    Raises:
        FormatError: SIG-6, if there is no such key: a point that is not on the curve, or a modulus
            that cannot be one.
    """
    if key.application is not None:
        hashes = hashlib.sha256(key.application).digest(), hashlib.sha256(data).digest()
        data = hashes[0] + signature.suffix + hashes[1]
    try:
        if key.modulus:
            rsa = RSAPublicNumbers(key.exponent, key.modulus).public_key()
            rsa.verify(signature.value, data, PKCS1v15(), _RSA_HASHES[signature.algorithm])
        elif key.curve:
            curve, hash_of_curve = _CURVES[key.curve]
            ecdsa = EllipticCurvePublicKey.from_encoded_point(curve, key.point)
            der = encode_dss_signature(signature.r, signature.s)
            ecdsa.verify(der, data, ECDSA(hash_of_curve))
        else:
            Ed25519PublicKey.from_public_bytes(key.point).verify(signature.value, data)
    except InvalidSignature:
        return False
    except (ValueError, UnsupportedAlgorithm):
        raise FormatError("SIG-6", f"there can be no such key of kind {key.kind}") from None
    return True
