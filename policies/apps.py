"""App: policy documents, workspaces and their bindings."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "policies"

    def ready(self) -> None:
        from django.contrib.auth.models import User
        from django.db.models.signals import post_save

        from policies import permissions

        # A signal, because accounts are made in more ways than ours: createsuperuser, a shell, single sign-on.
        post_save.connect(permissions.user_saved, sender=User, dispatch_uid="waiting-grants")
